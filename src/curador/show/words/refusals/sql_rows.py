"""SQL: the rows that a question is about: tables, joins, inner queries."""

ES: dict[str, tuple[str, str]] = {
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
    "full-join": (
        "FULL JOIN tiene filas de una sola de las tablas.",
        "Use LEFT JOIN, o UNION ALL de las dos tablas.",
    ),
    "right-join-public": (
        "RIGHT JOIN con una tabla pública conservaría filas que no son de nadie.",
        "Use JOIN, o LEFT JOIN con la tabla privada primero.",
    ),
    "natural-join": (
        "NATURAL JOIN no encuentra una columna con el mismo nombre en las dos.",
        "Escriba JOIN tabla ON a = b.",
    ),
    "join-by-unit-alone": (
        "Una consulta con una fila por unidad se une por el id de la unidad y por nada más.",
        "Escriba ON id = id, y compare lo demás en WHERE.",
    ),
    "several-rows-left-join": (
        "Una consulta con varias filas por unidad no se une con LEFT JOIN: nada dice cuántas trae cada una.",
        "Agrúpela solo por el id de la unidad (GROUP BY), para que haya una fila por unidad; o una la tabla misma.",
    ),
    "several-rows-join": (
        "Una consulta con varias filas por unidad solo se une con JOIN a una tabla tal como está.",
        "Agrúpela por el id de la unidad (GROUP BY); o escriba FROM (consulta) JOIN tabla y filtre fuera.",
    ),
    "join-computed": ("La unión compara {column}, que es una columna calculada.", "Una por columnas tal como están."),
    "join-types": (
        "{column} es de tipo {type}, y {other}, de tipo {type_other}.",
        "Una por columnas de un mismo tipo, sin decimales.",
    ),
    "unit-not-id": (
        "{table} y {other} no son tablas privadas cuya unidad es un id.",
        "Use tablas que declaran la misma unidad.",
    ),
    "unit-types": (
        "La unidad de {table} es de tipo {type}, y la de {other}, de tipo {type_other}.",
        "El curador declara un mismo tipo para las dos.",
    ),
    "neighbors-of-tables": (
        "{table} protege de otra manera que la primera tabla.",
        "El curador declara la misma para las dos.",
    ),
    "unit-is-row": ("En {table} cada fila es ya una unidad.", "Deje fuera ese GROUP BY."),
    "union-types": (
        "UNION ALL pone en la columna {column} valores de tipos o pasos distintos.",
        "Elija columnas de un mismo tipo y paso en los mismos lugares.",
    ),
    "with-twice": ("WITH nombra {name} dos veces.", "Use otro nombre."),
    "with-inside": ("WITH está dentro de una consulta.", "Escríbalo primero, antes de SELECT."),
    "with-unread": ("WITH nombra {name}, que no se lee.", "Déjelo fuera."),
    "with-behind": ("WITH está detrás de otro.", "Escriba ROLLUP(a, b) o CUBE(a, b)."),
    "inner-part": (
        "Una consulta interior tiene {word}: una fila representaría a muchas.",
        "Una consulta interior calcula columnas y filtra, o agrupa por el id de la unidad; los agregados van en la exterior.",
    ),
    "inner-having": (
        "Una consulta interior tiene HAVING sin GROUP BY.",
        "Una consulta interior calcula columnas y filtra, o agrupa por el id de la unidad; los agregados van en la exterior.",
    ),
    "inner-aggregates": (
        "Una consulta interior tiene un agregado sin GROUP BY: una fila representaría a muchas.",
        "Una consulta interior calcula columnas y filtra, o agrupa por el id de la unidad; los agregados van en la exterior.",
    ),
    "inner-too-large": ("Las columnas de las consultas interiores tienen más de {most} partes.", "Elija menos."),
    "nested-queries": (
        "Hay consultas dentro de más de {most} niveles de consultas, o son demasiadas.",
        "Divida la pregunta, o pida al curador una tabla preparada.",
    ),
    "in-other-units": (
        "IN (SELECT …) mira filas de otras unidades si los dos lados no son el id de la unidad.",
        "Escriba id IN (SELECT id FROM …), o una una tabla pública.",
    ),
    "differs-within-unit": (
        "{column} puede ser distinta entre las filas de una misma unidad.",
        "Mídala con un agregado, o póngala en el GROUP BY interior.",
    ),
    "not-of-one-unit": (
        "{word} no se calcula de las filas de una sola unidad.",
        "Use COUNT, SUM, MIN, MAX o AVG.",
    ),
    "public-query": (
        "Una consulta sobre la tabla pública {table} no se lee como una tabla.",
        "Una {table} misma y use el agregado fuera; o agrúpela antes en su archivo.",
    ),
    "groups-several-units": (
        "Una consulta interior agrupa filas de varias unidades: una fila representaría a muchas.",
        "Use el agregado en la consulta exterior; o agrupe la interior por el id de la unidad.",
    ),
    "unit-too-wide": (
        "{expression} de {most} filas podría dar un número demasiado grande.",
        "Póngale límites: GREATEST(LEAST(SUM(columna), máximo), mínimo).",
    ),
    "rows-per-unit": ("{n} filas por grupo son más de {most}.", "El curador declara menos filas por unidad."),
}
