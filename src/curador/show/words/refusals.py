"""Refusals in Spanish, by their code: what happened and what to do.  In English a refusal has its own words."""

ES: dict[str, tuple[str, str]] = {
    # -- numbers and prices
    "not-a-number": ("{name} no es un número: {given}.", "Escriba un número, como 0.5 o 1/4."),
    "not-positive": ("{name} debe ser mayor que 0.", "Escriba un número mayor que 0."),
    "loss-range": ("{name} debe estar entre {least} y {most}.", "Elija {name} cerca de 1 o menor."),
    "delta-range": (
        "Delta debe ser 0, o un número muy pequeño entre 0 y 1.",
        "Elija un delta muy por debajo de 1 / (número de personas).",
    ),
    "price-needed": ("Una pregunta se paga con épsilon, con épsilon y delta, o con rho.", "Dé exactamente uno."),
    "gaussian-not-pure": ("El ruido gaussiano necesita un delta.", "Dé un delta, o use ruido de Laplace."),
    "needs-delta": (
        "Los grupos sin claves públicas se eligen de forma privada, y eso necesita un delta.",
        "Dé un delta, como 1e-6; o enumere las claves de la columna.",
    ),
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
        "El error de {output} depende de cuántas filas hay detrás, y eso no es público.",
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
    # -- SQL: words
    "sql-not-in-grammar": ("{word} no está entre lo que se puede escribir.", "{instead}"),
    "sql-clause": ("{word} no se puede escribir aquí.", ""),
    "sql-pattern": (
        "{word}: los motores comparan estos patrones de modos distintos, y algunos no terminan.",
        "Use LIKE, = e IN, o declare una columna en los datos.",
    ),
    "sql-not-exact": (
        "{word} no puede dar el mismo número en todos los motores.",
        "Use + - * / // % ABS ROUND, o declare una columna en los datos.",
    ),
    "sql-other-rows": (
        "{word} mira otras filas, así que una persona podría mover muchas respuestas.",
        "Pida agregados; agrupe con GROUP BY por lo que necesite.",
    ),
    "sql-rows-twice": (
        "{word} contaría filas dos veces o según lo que hay en otras.",
        "Haga dos preguntas, o use OR y CASE.",
    ),
    "sql-no-estimate": (
        "{word} no tiene aquí una estimación privada.",
        "VARIANCE y STDDEV dicen cuánto se dispersan los valores; QUANTILE, dónde están.",
    ),
    "sql-one-row": (
        "{word} podría decidirse por una sola fila.",
        "Use COUNT_IF(condición), o AVG(condición) para la proporción.",
    ),
    "sql-clock": ("{word} cambia de una vez a otra.", "Escriba el valor, como DATE '2020-01-31'."),
    "sql-arguments": ("{word} no tiene el número correcto de argumentos.", ""),
    "no-such-function": (
        "Aquí no hay una función {word}.",
        "Use COUNT, SUM, AVG, MEDIAN, QUANTILE, MIN, MAX o STDDEV.",
    ),
    "sql-distinct-one": ("DISTINCT cuenta una sola columna.", "Cuente una columna a la vez."),
    "sql-which-quantile": ("No se dice qué cuantil.", "Escriba QUANTILE(columna, 0.9)."),
    "sql-comparisons": ("Hay una comparación al lado de otra.", "Ponga una entre paréntesis, o únalas con AND."),
    "sql-query-in-list": ("Hay una consulta donde hace falta una lista de valores.", "Enumere los valores."),
    "sql-in-constants": ("IN enumera algo que no es una constante.", "Enumere constantes, o una condiciones con OR."),
    "sql-is": ("IS solo compara con NULL, TRUE y FALSE.", "Escriba IS NULL, o = para un valor."),
    "sql-whole-number": ("Aquí se espera un número entero.", "Escriba un número entero."),
    "sql-number": ("Aquí se espera un número.", "Escriba un número."),
    "sql-column": ("Aquí se espera una columna.", "Escriba el nombre de una columna."),
    "sql-name": ("Aquí se espera un nombre.", "Escriba un nombre."),
    "sql-date-part": ("No hay una parte de fecha llamada {word}.", "Use una de {known}."),
    "sql-too-long": ("Una pregunta es un texto de a lo sumo {most} caracteres.", "Escriba una más corta."),
    "several-statements": ("El texto tiene {n} instrucciones.", "Haga una pregunta a la vez."),
    "explain-asked": ("EXPLAIN no es una pregunta.", "El precio y el error se muestran aquí, sin pagar."),
    # -- SQL: tables and joins
    "no-from": ("Falta FROM.", "Diga a qué tabla se pregunta."),
    "only-tables": ("Solo se leen tablas del estudio y consultas sobre ellas.", "Son {known}."),
    "sql-join-kind": ("{word} JOIN no se puede usar.", "Use JOIN o LEFT JOIN … ON a = b."),
    "sql-table-twice": ("La tabla {table} ya está en la pregunta.", "Una otra tabla, con otro nombre."),
    "sql-names-twice": ("Dos partes de FROM tienen un mismo nombre.", "Dé otro a la consulta: (…) AS nombre."),
    "public-first": ("La tabla {table} es pública.", "Ponga primero la tabla privada."),
    "join-without-on": ("Una unión sin ON multiplica las filas.", "Escriba JOIN tabla ON a = b."),
    "join-columns": ("Una unión compara una columna de cada tabla.", "Escriba ON esta.columna = aquella.columna."),
    "join-by-equality": ("Las uniones solo comparan columnas con =.", "Escriba ON a = b AND …; filtre en WHERE."),
    "join-not-by-unit": (
        "La tabla privada {table} no se une por el id de la unidad en ambos lados.",
        "Una las tablas por el id de la persona: ON a.id = b.id.",
    ),
    "union-distinct": ("UNION quita filas según lo que hay en otras.", "Escriba UNION ALL."),
    "union-columns": (
        "UNION ALL une consultas con distinto número de columnas.",
        "Elija las mismas columnas en cada una.",
    ),
    "union-of-answers": (
        "UNION pone las respuestas de dos preguntas una debajo de otra.",
        "Haga cada una por separado, o juntas en un tablero.",
    ),
    # -- SQL: columns and groups
    "column-ambiguous": ("{column} podría ser varias columnas.", "Escriba tabla.columna."),
    "star-columns": ("* no tiene columnas, o dos con un mismo nombre.", "Nombre las columnas."),
    "no-alias": ("Una columna calculada no tiene nombre.", "Añada AS nombre."),
    "two-columns": ("Dos columnas se llaman {column}.", "Dé otro nombre a una."),
    "aggregate-in-row": (
        "{word} está donde hace falta un valor de una fila.",
        "Los agregados van en SELECT, HAVING y ORDER BY.",
    ),
    "group-twice": ("Un grupo está dos veces.", "Escríbalo una vez."),
    "group-by-aggregate": ("No se agrupa por agregados.", "Agrupe por columnas o expresiones."),
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
    "header-unstated": (
        "¿La primera línea nombra las columnas? Una fila ahí se haría pública.",
        "Diga si hay encabezado; si no, escriba los nombres de todas las columnas, en su orden.",
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
    # -- a new table
    "bounds-whole": ("Los límites de una columna de enteros son números enteros.", "Escríbalos sin decimales."),
    "bounds-too-fine": ("Los límites de {low} a {high} son demasiado anchos para contarlos.", "Estréchelos."),
    "keys-twice": ("Hace falta al menos una clave, y cada una una sola vez.", "Escriba cada clave una vez."),
    "not-a-key": ("{key} no es un valor de esta columna.", "Escriba claves de su tipo."),
    "csv-unreadable": ("El archivo CSV no se puede leer como tabla.", "Mire su separador, sus comillas y sus líneas."),
    "table-unreadable": ("La tabla no se puede leer.", "Mire su dirección y su formato."),
    "not-a-table-file": ("El archivo no es ni Parquet ni CSV.", "Elija uno que termine en .csv, .csv.gz o .parquet."),
    "name-too-long": ("Este nombre es demasiado largo.", "Elija uno más corto."),
    "address-too-long": ("La dirección de la tabla es demasiado larga.", "Declárela con una ruta más corta."),
    "name-taken": ("Ya hay una tabla con este nombre.", "Elija otro."),
    "study-changed": ("El archivo del estudio cambió entretanto.", "Empiece de nuevo."),
    "no-study-file": ("Este estudio no tiene archivo.", "Declare la tabla donde se crea el curador."),
    "unit-differs": (
        "Otra tabla lee las mismas filas y protege otra unidad.",
        "Proteja las mismas filas como una sola unidad.",
    ),
    "unit-changed": ("Se decidió que {table} protege otra unidad.", "Declare la tabla con esa unidad."),
    "table-read-twice": (
        "La tabla lee las filas de otra: las personas en ella perderían los dos presupuestos.",
        "Dé a todas las tablas un presupuesto, o declare otras filas.",
    ),
    "source-changed": ("{table} se abrió desde entonces con otro origen.", "Declare el origen que tiene ahora."),
}
