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
        "Protege {unit}: toda respuesta es casi igual de probable si está que si no está.",
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
    "change-title": ("Change {table}", "Cambiar {table}"),
    "change-costs": ("What changing costs", "Qué cuesta cambiar"),
    "change-spent": (
        "What was spent stays spent, and the table goes on with the budget that it has, also with a newer file.",
        "Lo gastado queda gastado, y la tabla sigue con el presupuesto que tiene, también con un archivo más nuevo.",
    ),
    "change-anew": (
        "A question that was bought before is another one once the table is changed: asked again, it is paid again.",
        "Una pregunta comprada antes es otra una vez que la tabla cambia: si se repite, se paga de nuevo.",
    ),
    "change-releases": (
        "What was bought stays as it is: its pages, files and public links go on, under the declarations it was bought under.",
        "Lo comprado queda como está: sus páginas, archivos y enlaces públicos siguen, con las declaraciones con que se compró.",
    ),
    "change-because": ("Reason, if you change that", "Motivo, si cambia eso"),
    "change-because-hint": (
        "Whom a table protects is kept in the ledger. It can be changed by a decision with a reason; what was spent for the old and the new is then added up.",
        "A quién protege una tabla está en el registro. Se puede cambiar con una decisión y su motivo; entonces se suma lo gastado por lo anterior y lo nuevo.",
    ),
    "change-upload-done": (
        "The file is there, and takes the place of the old one once you have declared it. It keeps the table's budget: if its people were never in the data before, ask whoever runs the server to renew the budget.",
        "El archivo ya está y ocupará el lugar del anterior cuando lo declare. Conserva el presupuesto de la tabla: si sus personas nunca estuvieron en los datos, pida a quien opera el servidor que renueve el presupuesto.",
    ),
    "change-write-means": (
        "From the next question on it is as stated here. What was answered before stays as it was.",
        "Desde la próxima pregunta rige lo que se declara aquí. Lo ya respondido queda como estaba.",
    ),
    "change-button": ("Change {table}", "Cambiar {table}"),
    "change-written": ("{table} is changed", "{table} quedó cambiada"),
    "change-served": (
        "Questions are about the new declaration from now on.",
        "Desde ahora las preguntas tratan de la nueva declaración.",
    ),
    "change-not-public": (
        "This table is public: it protects nobody, and its declaration is changed in the study file.",
        "Esta tabla es pública: no protege a nadie, y su declaración se cambia en el archivo del estudio.",
    ),
    "change-not-form": (
        "This table is declared in a way that this page has no fields for. It can be changed in the study file, by whoever runs the server.",
        "Esta tabla está declarada de una forma para la que esta página no tiene campos. La puede cambiar en el archivo del estudio quien opera el servidor.",
    ),
    "withdraw-offer": ("Withdraw {table}…", "Retirar {table}…"),
    "withdraw-title": ("Withdraw {table}", "Retirar {table}"),
    "withdraw-means": ("What that means", "Qué significa"),
    "withdraw-nobody": (
        "Nobody can ask about it any more, from now on.",
        "Desde ahora nadie puede preguntar por ella.",
    ),
    "withdraw-spent": (
        "What was spent on it stays spent: withdrawing brings no budget back.",
        "Lo gastado en ella queda gastado: retirarla no devuelve presupuesto.",
    ),
    "withdraw-releases": (
        "What was answered cannot be taken back, and stays: its pages, files and public links go on without the table.",
        "Lo respondido no se puede deshacer, y queda: sus páginas, archivos y enlaces públicos siguen sin la tabla.",
    ),
    "withdraw-file": ("Its rows are not deleted: {source}.", "Sus filas no se borran: {source}."),
    "withdraw-again": (
        "Declared again, it goes on with the budget and with whom it protects, as the ledger keeps them.",
        "Si se declara de nuevo, sigue con su presupuesto y con a quién protege, tal como los guarda el registro.",
    ),
    "withdraw-last": (
        "It is the only table that can be asked about, and a study has at least one. Declare another one first; or change this one.",
        "Es la única tabla por la que se puede preguntar, y un estudio tiene al menos una. Declare antes otra, o cambie esta.",
    ),
    "withdraw-button": ("Withdraw {table}", "Retirar {table}"),
    "withdraw-not": ("Keep it", "Conservarla"),
    "withdrawn": (
        "{table} was withdrawn. What was spent on it stays spent.",
        "{table} fue retirada. Lo gastado en ella queda gastado.",
    ),
    "change-offer": ("Change what is declared of {table}", "Cambiar lo declarado de {table}"),
}
