"""Tables: what is declared about each, in words; and what is said about changing it."""

TEXTS = {
    "title": ("Tables", "Tablas"),
    "lead": (
        "What is declared about each table. It was chosen without looking at the rows, and costs nothing to read.",
        "Lo que se declara de cada tabla. Se eligió sin mirar las filas y leerlo no cuesta nada.",
    ),
    "none": ("No table is declared yet.", "Aún no se ha declarado ninguna tabla."),
    "public": (
        "A public table: it is read without noise and protects nobody.",
        "Una tabla pública: se lee sin ruido y no protege a nadie.",
    ),
    "add-remove": (
        "Protects {unit}: every answer is nearly as likely with it as without it.",
        "Protege {unit}: toda respuesta es casi igual de probable con ello que sin ello.",
    ),
    "replace": (
        "Protects {unit}: every answer is nearly as likely if it is replaced by another; the number of units is public.",
        "Protege {unit}: toda respuesta es casi igual de probable si se reemplaza por otra; el número de unidades es público.",
    ),
    "unit-row": ("one row", "una fila"),
    "unit-id": ("all rows of one value of {unit}", "todas las filas de un valor de {unit}"),
    "size": ("Its public size is {n}.", "Su tamaño público es {n}."),
    "kept": (
        "Of one unit at most {rows} rows count; what is more is left out at random.",
        "De una unidad cuentan a lo sumo {rows} filas; lo demás se omite al azar.",
    ),
    "kept-groups": (
        "Of one unit at most {groups} groups count, with at most {rows} rows in each; what is more is left out at random.",
        "De una unidad cuentan a lo sumo {groups} grupos, con a lo sumo {rows} filas en cada uno; lo demás se omite al azar.",
    ),
    "kept-none": (
        "How much of one unit counts is said with each question.",
        "Cuánto cuenta de una unidad se dice con cada pregunta.",
    ),
    "column": ("Column", "Columna"),
    "type": ("Type", "Tipo"),
    "values": ("Values", "Valores"),
    "type-integer": ("whole number", "número entero"),
    "type-real": ("number with decimals", "número con decimales"),
    "type-boolean": ("yes or no", "sí o no"),
    "type-text": ("text", "texto"),
    "type-date": ("date", "fecha"),
    "type-timestamp": ("date and time", "fecha y hora"),
    "ask": ("Ask about {table}", "Preguntar sobre {table}"),
    "learn": ("Learn a model from {table}", "Aprender un modelo de {table}"),
    "bring": ("Bring a table", "Traer una tabla"),
    "change-unit-fixed": (
        "Something was asked already: what its budget protects is kept in the ledger, and is not changed here.",
        "Ya se preguntó algo: lo que protege su presupuesto está en el registro y no se cambia aquí.",
    ),
    "told-row": ("Protects one row: every row is another person.", "Protege una fila: cada fila es otra persona."),
    "told-id": (
        "Protects a person: all rows with the same {unit}.",
        "Protege a una persona: todas las filas con el mismo {unit}.",
    ),
    "told-limits": (
        "A person counts in at most {groups} groups of an answer, with at most {rows} rows in each: noise is {times} times that of one row, and rows beyond are left out.",
        "Una persona cuenta en a lo sumo {groups} grupos de una respuesta, con a lo sumo {rows} filas en cada uno: el ruido es {times} veces el de una fila, y las filas de más se omiten.",
    ),
    "told-replace": ("How many people there are is public.", "Cuántas personas hay es público."),
    "told-budget": ("Its budget is {amount}.", "Su presupuesto es {amount}."),
    "told-bounds": ("{kind}, from {low} to {high}", "{kind}, de {low} a {high}"),
    "told-own": ("says whose a row is", "dice de quién es una fila"),
    "told-more": ("and {n} more", "y {n} más"),
    "told-no-keys": (
        "no values listed: groups are found privately",
        "sin lista de valores: los grupos se hallan de forma privada",
    ),
    "told-no-keys-no-delta": (
        "no values listed: it cannot be grouped by under this budget",
        "sin lista de valores: con este presupuesto no se puede agrupar por ella",
    ),
    "told-no-bounds": (
        "no lowest and highest: no sums, means or quantiles of it",
        "sin mínimo ni máximo: no habrá sumas, medias ni cuantiles de ella",
    ),
    "told-left-out": ("Left out: {names}.", "Se dejan fuera: {names}."),
    "change-short": ("Change or withdraw", "Cambiar o retirar"),
    "change-offer": ("Change what is declared of {table}", "Cambiar lo declarado de {table}"),
}
