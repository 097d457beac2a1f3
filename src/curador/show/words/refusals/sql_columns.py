"""SQL: columns, groups, and what is measured."""

ES: dict[str, tuple[str, str]] = {
    "column-ambiguous": ("{column} podría ser varias columnas.", "Escriba tabla.columna."),
    "star-columns": ("* no tiene columnas, o dos con un mismo nombre.", "Nombre las columnas."),
    "no-alias": ("Una columna calculada no tiene nombre.", "Escriba AS nombre."),
    "two-columns": ("Dos columnas se llaman {column}.", "Dé otro nombre a una."),
    "aggregate-in-row": (
        "{word} está donde hace falta un valor de una fila.",
        "Los agregados van en SELECT, HAVING y ORDER BY.",
    ),
    "group-twice": ("Un grupo está dos veces.", "Escríbalo una vez."),
    "group-by-aggregate": ("No se agrupa por agregados.", "Agrupe por columnas o expresiones."),
    "key-of-no-bin": (
        "{column} tiene los tramos 0 a {most}, y se le da otra clave.",
        "Dé como claves números de tramos, o ninguna.",
    ),
    "group-by-real": (
        "{group} agrupa por un número con decimales.",
        "Divídalo en tramos, como FLOOR(x / 10), o BIN(x, 0, 10, 20).",
    ),
    "group-by-timestamp": ("{group} agrupa por un momento.", "Agrupe por día, mes o año: DATE_TRUNC('month', x)."),
    "selected-twice": ("{group} se elige dos veces.", "Elíjalo una vez."),
    "select-number": ("SELECT no tiene una columna número {number}.", "Tiene {n}."),
    "not-in-answer": (
        "{column} no es una columna de la respuesta; después del ruido solo hay respuestas con ruido.",
        "Agrupe por ella, mídala, o use una de {known}.",
    ),
    "order-by": ("ORDER BY necesita una columna de la respuesta.", "Use una de {known}."),
    "answers-of-answers": (
        "La consulta interior da respuestas con ruido: un agregado de ellas es un agregado de ruido.",
        "Pregunte el agregado directamente a la tabla.",
    ),
    "wrong-type": ("{function} de {column}: la columna es de tipo {type}.", "Elija una columna con números."),
    "needs-bounds": (
        "{name} necesita límites.",
        "El curador los declara, de un libro de códigos y nunca de los datos.",
    ),
    "needs-column": ("{function} necesita una columna.", "Escriba {function}(columna)."),
    "nothing-measured": ("Una pregunta necesita algo que medir.", "Pida COUNT(*), SUM(x), AVG(x) u otro agregado."),
    "no-such-output": ("Ninguna columna de la respuesta se llama {output}.", "Mire los nombres después de AS."),
    "neither-grouped": (
        "{column} no se agrupa ni se mide.",
        "Póngala en GROUP BY, o mídala: AVG(x), SUM(x), COUNT(DISTINCT x).",
    ),
    "alias-of-another": (
        "{column} es una columna y también el nombre que se da a otra.",
        "Dé otro nombre a la segunda.",
    ),
    "group-unnamed": ("El grupo {group} no tiene nombre.", "Elíjalo con AS nombre."),
    "not-a-group": ("{column} no es un grupo.", "Use uno de {known}."),
    "too-many-columns": ("La respuesta tiene {n} columnas; lo más es {most}.", "Divida la pregunta."),
    "too-many-keys": (
        "{column} tiene {n} valores; lo más es {most}.",
        "Agrupe en tramos más anchos, o por otra columna.",
    ),
    "shown-twice": ("Una columna se muestra dos veces, o es un grupo.", "Los grupos se muestran siempre."),
    "histogram-alone": (
        "El histograma {output} se pide junto con otros agregados.",
        "Pídalo solo, o agrupe por BIN(columna, bordes…) y mida en los grupos.",
    ),
    "frequent-alone": (
        "Los valores más frecuentes ({output}) se piden junto con otra cosa.",
        "Pídalos solos; por grupo, agrupe por las dos columnas con COUNT(*) y ORDER BY.",
    ),
    "needs-groups": ("{function} necesita grupos y se pide sola.", "Agrupe por algo y pida lo demás aparte."),
    "stands-alone": ("{word} va sola en SELECT.", "Elíjala por sí misma, con un nombre."),
    "several-columns": ("{word} da varias columnas.", "Use una de {known}."),
    "pair-of-one": ("{expression} usa una columna dos veces.", "Nombre dos columnas; VARIANCE es de una."),
    "quantiles-list": (
        "Los cuantiles son de 1 a {most} probabilidades distintas.",
        "Enumere cada una una vez, como [0.25, 0.75].",
    ),
    "filter-twice": ("Hay un FILTER sobre otro FILTER.", "Una las condiciones con AND."),
    "filter-not-here": ("FILTER no va aquí con {word}.", "Filtre en WHERE, en una pregunta aparte."),
    "within-group": (
        "WITHIN GROUP va con PERCENTILE_CONT o PERCENTILE_DISC, sobre una columna.",
        "Escriba PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY columna), o QUANTILE(columna, 0.9).",
    ),
    "mode-of-two": ("MODE nombra dos columnas.", "Escriba MODE(columna)."),
    "largest-of-selected": (
        "Los mayores de los grupos elegidos de forma privada ya tienen un orden: el de sus cuentas con ruido.",
        "Escriba COUNT(*) con ORDER BY y LIMIT; o el curador declara las claves de las columnas.",
    ),
    # -- sets of groups
    "grouping-set-twice": ("Un conjunto de grupos está dos veces, o nombra un grupo dos veces.", "Escríbalo una vez."),
    "too-many-sets": ("Hay más de {most} conjuntos de grupos.", "Divida la pregunta."),
    "group-in-no-set": ("Un grupo no está en ningún conjunto.", "Déjelo fuera, o nómbrelo en uno."),
    "sets-need-keys": (
        "GROUPING SETS, ROLLUP y CUBE son sobre columnas con claves públicas ({columns}).",
        "El curador declara las claves; o pida cada conjunto por separado.",
    ),
    "sets-not-summed": (
        "{output} es {function}: la de un total no se forma con las de sus partes.",
        "Pídala con un solo GROUP BY, o use COUNT, SUM y AVG.",
    ),
    "sets-of-units": (
        "{output} cuenta unidades, que pueden estar en varios grupos: el total no es la suma de sus partes.",
        "Pídala con un solo GROUP BY, o cuente filas.",
    ),
    "grouping-of-groups": ("GROUPING es de algo por lo que se agrupa.", "Nombre una columna de GROUP BY."),
    # -- after the noise
    "partition-by-groups": ("PARTITION BY necesita grupos de la pregunta.", "Divida por lo que está en GROUP BY."),
    "answer-window": (
        "{word} OVER no se puede escribir.",
        "Use SUM, AVG, MIN, MAX o COUNT(*) OVER, o ROW_NUMBER, RANK y DENSE_RANK con ORDER BY.",
    ),
    "window-order": (
        "{word} OVER necesita ORDER BY si da lugares, y no lo lleva si suma todos los grupos.",
        "Escriba SUM(COUNT(*)) OVER (PARTITION BY grupo), o RANK() OVER (ORDER BY COUNT(*) DESC).",
    ),
    "window-in-window": (
        "Hay una ventana dentro de otra.",
        "Escriba SUM(COUNT(*)) OVER (PARTITION BY grupo), o RANK() OVER (ORDER BY COUNT(*) DESC).",
    ),
    "having-window": ("HAVING mira a través de una ventana.", "Las ventanas son sobre los grupos que HAVING deja."),
    "running-totals": ("Los totales acumulados no se pueden escribir.", "Deje ORDER BY fuera de la ventana."),
    "count-over": ("COUNT OVER cuenta grupos.", "Escriba COUNT(*) OVER ()."),
    "not-of-answers": (
        "{expression} no se calcula de respuestas.",
        "Con respuestas se puede calcular, comparar, redondear y usar CASE.",
    ),
    "over-answers": (
        "{word} está sobre respuestas con ruido.",
        "Use los agregados en una sola consulta; sobre respuestas se puede escribir MAX(n) OVER () u ORDER BY n DESC LIMIT 1.",
    ),
    "cut-then-sorted": (
        "La consulta interior se corta con LIMIT y después se ordena o se filtra.",
        "Escríbala en una sola consulta, con HAVING, ORDER BY y LIMIT en su lugar.",
    ),
    "where-over-window": (
        "WHERE está sobre una ventana: dejaría fuera lo que se sumó.",
        "Escríbala en una sola consulta, con HAVING, ORDER BY y LIMIT en su lugar.",
    ),
    "no-answers-shown": ("Esto mostraría grupos y ninguna respuesta.", "Elija también una respuesta."),
    "constant-answer": ("Una constante no es una respuesta.", "Elija columnas de la consulta interior."),
}
