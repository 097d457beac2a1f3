"""SQL: the types and the bounds of what is computed from a row."""

ES: dict[str, tuple[str, str]] = {
    "no-such-column": (
        "No hay una columna {column}. Hay: {known}.",
        "Escriba una de ellas; un texto va entre comillas simples: 'Lugo'.",
    ),
    "needs-number": (
        "{expression} necesita un número, y {operand} es de tipo {type}.",
        "Use un número.",
    ),
    "needs-whole-number": (
        "{expression} necesita un número entero, y {operand} es de tipo {type}.",
        "Use un número entero.",
    ),
    "needs-text": ("{expression} necesita un texto, y {operand} es de tipo {type}.", "Use un texto."),
    "needs-date": (
        "{expression} necesita una fecha, y {operand} es de tipo {type}.",
        "Use una columna de fechas.",
    ),
    "needs-timestamp": (
        "{expression} necesita una fecha y hora, y {operand} es de tipo {type}.",
        "Use una columna de fecha y hora.",
    ),
    "not-a-condition": ("{expression} no es una condición.", "Compárela con algo."),
    "null-untyped": (
        "NULL no tiene un tipo propio.",
        "Compruébelo con IS NULL, o úselo como resultado de CASE.",
    ),
    "always-null": ("{expression} es siempre NULL.", "Dele un valor, o déjelo fuera."),
    "mixed-types": ("{expression} mezcla valores de tipos distintos.", "Use valores de un mismo tipo."),
    "mixed-arithmetic": (
        "{expression} calcula con los tipos {type} y {type_other}.",
        "Use números; a una fecha se le suman o restan días enteros; para fecha y hora use DATEDIFF.",
    ),
    "compared-types": (
        "{expression} compara los tipos {type} y {type_other}.",
        "Compare valores de un mismo tipo: una fecha se escribe DATE '2020-01-31', y un texto entre comillas simples.",
    ),
    "compared-fraction": (
        "{expression} compara números enteros con uno que no lo es.",
        "Compare con {below} o con {above}.",
    ),
    "order-of-type": (
        "{expression} ordena valores de tipo {type}.",
        "Ordene solo números o fechas; lo demás, con = y <>.",
    ),
    "order-of-texts": (
        "{expression} ordena valores de tipo {type}, que cada motor ordena a su modo.",
        "Compare con = o <>, o enumere valores con IN.",
    ),
    "not-a-date-text": ("{text} está junto a un valor de tipo {type} y no lo es.", "Escríbalo como 2020-01-31."),
    "years-range": (
        "{expression} podría salir de los años 1 a 9999.",
        "El curador declara límites más estrechos para las fechas; o reste menos.",
    ),
    "unbounded": (
        "{expression} no tiene límites, y sin ellos el ruido no puede ocultar a una persona.",
        "El curador los declara para las columnas de las que se forma.",
    ),
    "unbounded-column": (
        "{column} no tiene límites, y sin ellos el ruido no puede ocultar a una persona.",
        "Escriba GREATEST(LEAST({column}, máximo), mínimo); o el curador declara límites.",
    ),
    "too-wide": (
        "{expression} podría dar un número demasiado grande.",
        "El curador declara límites más estrechos para sus columnas, o un paso más grueso.",
    ),
    "edges-whole": ("{expression} es entero, y un borde no lo es.", "Use bordes enteros."),
    "bins-too-fine": (
        "Los tramos de {expression} son más finos que su paso, o demasiado grandes.",
        "Use tramos más anchos; o el curador declara un paso más fino para la columna.",
    ),
    "values-unlisted": (
        "{expression} se calcula antes para cada valor público, y los de {operand} no están enumerados o son más de {most}.",
        "El curador declara las claves de la columna, o límites que dejen a lo sumo {most} valores.",
    ),
    "curve-untabled": (
        "{expression}: los motores redondean logaritmos y exponenciales de modos distintos, así que cada valor se calcula antes, para a lo sumo {most} números enteros.",
        "Haga entero el valor, con límites estrechos: {function}(ROUND({operand})).",
    ),
    "too-many-texts": (
        "{expression} tiene más de {most} textos.",
        "Agrupe por mes o por año: DATE_TRUNC('month', x); o el curador declara límites más estrechos.",
    ),
    "joined-text-type": (
        "{expression} une textos, y {operand} es de tipo {type}.",
        "Escriba CAST({operand} AS VARCHAR).",
    ),
    "joined-text-long": (
        "{expression} podría ser demasiado largo: {operand} no tiene claves.",
        "Agrupe por las dos columnas; o el curador declara las claves.",
    ),
    "compared-values": (
        "Las filas se compararían con {n} valores; lo más es {most}.",
        "Pida menos funciones de textos a la vez, o con menos valores.",
    ),
}
