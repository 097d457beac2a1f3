"""Numbers, prices, budgets, and what the policy of a study allows."""

ES: dict[str, tuple[str, str]] = {
    "not-a-number": ("{name} no es un número: {given}.", "Escriba un número, como 0.5 o 1/4."),
    "event-unreadable": (
        "Lo que se compra no se puede guardar: no se leería igual.",
        "Redondee sus números, a unos cientos de cifras como máximo.",
    ),
    "not-positive": ("{name} debe ser mayor que 0.", "Escriba un número mayor que 0."),
    "loss-range": ("{name} debe estar entre {least} y {most}.", "Elija {name} cerca de 1 o menor."),
    "delta-range": (
        "Delta debe ser 0, o un número muy pequeño entre 0 y 1.",
        "Elija un delta muy por debajo de 1 / (número de personas).",
    ),
    "price-needed": ("Una pregunta se paga con épsilon, con épsilon y delta, o con rho.", "Dé exactamente uno."),
    "gaussian-not-pure": ("El ruido gaussiano necesita un delta.", "Dé un delta, o use ruido de Laplace."),
    "needs-delta": (
        "Los grupos por {groups} no tienen claves públicas: se eligen de forma privada, y eso necesita un delta.",
        "Dé un delta, como 1e-6; o enumere las claves de {groups}.",
    ),
    "model-needs-delta": ("El ruido gaussiano necesita un delta.", "Dé un delta, o rho."),
    "delta-not-granted": (
        "Los grupos sin claves públicas se eligen de forma privada, y eso necesita un delta. Aquí el presupuesto solo cuenta épsilon.",
        "Enumere las claves de la columna y pregunte solo con épsilon; o pida un delta a quien tiene el presupuesto.",
    ),
    "accuracy-unreachable": (
        "Ningún épsilon alcanza esta exactitud.",
        "Acepte un error mayor, o pida menos grupos o límites más estrechos.",
    ),
    "accuracy-in-ranks": (
        "Esta respuesta se elige por rango: antes de comprarla su error se conoce en rangos, no en valores.",
        "Dé un épsilon en vez de un error.",
    ),
    "error-needs-rows": (
        "El error de {output} depende de cuántas filas con valor hay detrás, y eso no es público.",
        "Diga cuántas filas espera, o dé un épsilon.",
    ),
    "error-of-computed": (
        "El error de {output} depende de las respuestas con las que se calcula.",
        "Dé un épsilon, o pida el error de una de ellas.",
    ),
    "accuracies-too-dear": (
        "Los errores pedidos cuestan juntos {cost}, y para el conjunto hay {given}.",
        "Acepte errores mayores, o dé más al conjunto.",
    ),
    "answer-too-large": ("La respuesta tendría demasiados números.", "Pida menos grupos."),
    "too-many-groups": ("Las claves públicas forman {n} grupos, y son demasiados.", "Agrupe por menos."),
    "too-many-outputs": ("Son demasiados conjuntos de grupos y columnas a la vez.", "Pida menos cada vez."),
    "budgets-apart": (
        "Las tablas de esta pregunta tienen presupuestos propios, y una persona podría contar aun después de dejar una de ellas.",
        "Use JOIN en vez de LEFT JOIN, NOT IN o UNION ALL; o pregunte a cada tabla por separado.",
    ),
    "analyst-of-other-people": (
        "Este analista tiene un presupuesto para otras personas que las de esta tabla.",
        "Pida uno para ellas a quien tiene el presupuesto.",
    ),
    "number-too-long": ("{name} tiene demasiadas cifras.", "Redondéelo."),
    "below-zero": ("{name} no puede ser menor que 0.", "Escriba 0 o un número mayor."),
    "probability-range": ("{name} debe estar entre 0 y 1.", "Escriba un número de 0 a 1."),
    "whole-number": ("{name} debe ser un número entero, desde {least}.", "Escriba un número entero desde {least}."),
    "confidence-range": ("La confianza de los intervalos va de {least} a {most}.", "Pruebe con 0.95."),
    "confidence-corrected": (
        "Con una confianza de {confidence} los intervalos no se pueden corregir por una elección entre {among} grupos.",
        "Elija una confianza menor.",
    ),
    "gaussian-nothing": (
        "El ruido gaussiano necesita un delta y algo a lo que sumarlo.",
        "Deje la elección del ruido al sistema.",
    ),
    "policy-epsilon": (
        "La política del estudio permite un épsilon de {most} por pregunta, y esta cuesta {cost}.",
        "Pregunte con menos.",
    ),
    "policy-delta": (
        "La política del estudio permite un delta de {most}, y esto necesita {cost}.",
        "Pregunte con un delta menor.",
    ),
    "undeclared-value": (
        "{place}{column} no tiene declarado el valor «{value}», así que probablemente ninguna fila lo tenga: una respuesta sobre él es solo ruido.",
        "Use un valor declarado. Para comprarla tal como está, pregunte con anyway=True.",
    ),
    "undeclared-near": (
        "{place}{column} no tiene declarado el valor «{value}», así que probablemente ninguna fila lo tenga: una respuesta sobre él es solo ruido.",
        "¿Quiso decir «{near}»? Para comprarla tal como está, pregunte con anyway=True.",
    ),
    "undeclared-range": (
        "{place}Según lo declarado, {column} es {range}, así que ninguna fila tiene {value}: una respuesta sobre ese valor es solo ruido.",
        "Use un valor declarado. Para comprarla tal como está, pregunte con anyway=True.",
    ),
    "delta-of-size": (
        "Un delta de {delta} no es menor que 1 / {size}, el tamaño público de {table}: permitiría publicar la fila de alguien tal como es.",
        "Elija un delta mucho menor, como {better}.",
    ),
    "mechanism-not-allowed": (
        "La política del estudio no permite el mecanismo {kind}.",
        "Pida otro ruido, o consulte al curador.",
    ),
    "cost-not-expressible": (
        "El presupuesto no puede expresar lo que esto costaría.",
        "Pida otro ruido, o consulte a quien tiene el presupuesto.",
    ),
    "share-is-zero": ("La parte del presupuesto que le toca es 0.", "Reparta un presupuesto mayor."),
    "reason-too-long": ("Un motivo es un texto de a lo sumo {most} caracteres.", "Escriba uno más corto."),
    "board-empty": ("El tablero no tiene preguntas.", "Elija al menos una."),
    "board-neighbors": (
        "Las tablas de este tablero protegen de dos maneras distintas.",
        "Publique cada una en su propio tablero.",
    ),
    "nothing-to-share": ("Los errores pedidos no dejan nada que repartir.", "Dé más al conjunto."),
    "key-reused": (
        "Este formulario ya se envió con otra pregunta.",
        "Abra la página de nuevo y pregunte otra vez: lo ya comprado no cuesta nada.",
    ),
    "being-answered": (
        "Esta misma pregunta se está respondiendo ahora.",
        "Espere un momento y pregunte de nuevo: entonces ya está pagada.",
    ),
    "planned-for-other-data": ("Los datos de {table} cambiaron entretanto.", "Pregunte de nuevo."),
    "data-changed-while-read": (
        "Los datos de {table} cambiaron mientras se leían; el cargo se mantiene y la respuesta se desechó.",
        "Pregunte de nuevo.",
    ),
    "data-changed": ("Los datos cambiaron desde que esto se planeó.", "Pregunte de nuevo."),
    "engine-failed": (
        "El motor no pudo ejecutar la pregunta; el cargo se mantiene, como por una respuesta.",
        "Pida al curador que revise el motor; preguntar de nuevo es otro cargo.",
    ),
    "engines-differ": ("Las tablas de esta pregunta están en motores distintos.", "Una tablas de un mismo motor."),
}
