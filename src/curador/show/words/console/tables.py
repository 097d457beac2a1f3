"""Tables: what is declared about each, in words."""

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
    "type-real": ("number", "número"),
    "type-boolean": ("true or false", "verdadero o falso"),
    "type-text": ("text", "texto"),
    "type-date": ("date", "fecha"),
    "type-timestamp": ("date and time", "fecha y hora"),
    "ask": ("Ask about {table}", "Preguntar sobre {table}"),
}
