"""How many rows fit what is declared."""

TEXTS = {
    "fit-short": (
        "How many rows are as declared? (costs epsilon)",
        "¿Cuántas filas respetan lo declarado? (cuesta épsilon)",
    ),
    "fit-title": ("How many rows of {table} fit", "Cuántas filas de {table} se ajustan"),
    "fit-lead": (
        "For each column: how many rows have a value as declared, how many have none that could be read, and how many lie outside the declared values.",
        "Por cada columna: cuántas filas tienen un valor como se declaró, cuántas no tienen un valor legible y cuántas quedan fuera de los valores declarados.",
    ),
    "fit-before": ("Checked before: free to look at", "Revisada antes: verlo es gratis"),
    "fit-bought": ("{at} UTC, for {cost}", "{at} UTC, por {cost}"),
    "fit-which": ("Which columns?", "¿Qué columnas?"),
    "fit-fewer": (
        "The price is shared among them: with fewer columns each number is more exact.",
        "El precio se reparte entre ellas: con menos columnas cada número es más exacto.",
    ),
    "fit-epsilon": ("What to pay: epsilon", "Cuánto pagar: épsilon"),
    "fit-epsilon-hint": (
        "It is taken from the budget for ever. Little is enough to see whether a whole column was misread.",
        "Se toma del presupuesto para siempre. Poco basta para ver si toda una columna se leyó mal.",
    ),
    "fit-because": ("Reason", "Motivo"),
    "fit-because-hint": (
        "For the ledger; may stay empty unless the study's rules ask for one.",
        "Para el registro; puede quedar vacío salvo que las reglas del estudio lo pidan.",
    ),
    "fit-price": ("Show the price", "Mostrar el precio"),
    "fit-costs": ("It costs", "Cuesta"),
    "fit-error": ("Error of each number", "Error de cada número"),
    "fit-rows": ("± {n} rows", "± {n} filas"),
    "fit-left": ("Remaining now", "Disponible ahora"),
    "fit-error-means": (
        "In 95 of 100 cases. If the table has hardly more rows than that, pay more or choose fewer columns; or do not ask.",
        "En 95 de cada 100 casos. Si la tabla apenas tiene más filas que eso, pague más o elija menos columnas; o no pregunte.",
    ),
    "fit-too-much": ("That is more than remains.", "Eso es más de lo que queda."),
    "fit-refused-field-columns": ("Tick at least one column.", "Marque al menos una columna."),
    "fit-refused-csv-unreadable": (
        "The file is not a table as it was declared; nothing was paid. Are its letters UTF-8 or Latin-1, is the mark between fields right, has every line as many fields as there are columns, and is one kind of line end used throughout? Windows files with € in them have to be saved as “CSV UTF-8”.",
        "El archivo no es una tabla tal como se declaró; no se pagó nada. ¿Sus letras son UTF-8 o Latin-1, la marca entre campos es la correcta, cada línea tiene tantos campos como columnas hay y se usa un solo tipo de fin de línea? Los archivos de Windows con € deben guardarse como «CSV UTF-8».",
    ),
    "fit-refused-contribution-needed": (
        "The table does not say how much of one person counts: in how many groups, with how many rows. The curator declares that first.",
        "La tabla no dice cuánto cuenta de una persona: en cuántos grupos y con cuántas filas. El curador lo declara primero.",
    ),
    "fit-pay": ("Check and pay {cost}", "Contar y pagar {cost}"),
    "fit-fits": ("Fit", "Se ajustan"),
    "fit-missing": ("Missing", "Faltan"),
    "fit-outside": ("Outside", "Fuera"),
    "fit-verdict": ("What that says", "Qué dice eso"),
    "fit-some-wrong": (
        "Something does not fit: look at the columns in red.",
        "Algo no se ajusta: mire las columnas en rojo.",
    ),
    "fit-none-wrong": ("Nothing was found that does not fit.", "No se halló nada que no se ajuste."),
    "fit-nothing-told": (
        "It cannot be told from this: the noise is as large as the table. Pay more, or check fewer columns.",
        "De esto no se puede saber: el ruido es tan grande como la tabla. Pague más, o revise menos columnas.",
    ),
    "fit-is-fine": ("As declared, as far as can be told.", "Como se declaró, hasta donde se puede saber."),
    "fit-is-unclear": (
        "Too few rows for so much noise: it cannot be told.",
        "Muy pocas filas para tanto ruido: no se puede saber.",
    ),
    "fit-is-none-fit": (
        "Most rows have no value that could be read.",
        "La mayoría de las filas no tiene un valor que se pudiera leer.",
    ),
    "fit-is-all-outside": (
        "Most rows lie outside the declared values.",
        "La mayoría de las filas queda fuera de los valores declarados.",
    ),
    "fit-is-missing": (
        "Some rows have no value that could be read.",
        "Algunas filas no tienen un valor que se pudiera leer.",
    ),
    "fit-is-unlisted": (
        "{low} to {high} rows have a value that is not in the list, in 95 of 100 cases: was one forgotten? Such rows are in no group.",
        "De {low} a {high} filas tienen un valor que no está en la lista, en 95 de cada 100 casos: ¿se olvidó alguno? Esas filas no están en ningún grupo.",
    ),
    "fit-is-beyond": (
        "{low} to {high} rows lie outside the declared values, in 95 of 100 cases: are the bounds too narrow?",
        "De {low} a {high} filas quedan fuera de los valores declarados, en 95 de cada 100 casos: ¿los límites son muy estrechos?",
    ),
    "fit-most": (
        "Of each person at most {n} rows count, so that the numbers may sum to fewer rows than the table has.",
        "De cada persona cuentan a lo sumo {n} filas, así que los números pueden sumar menos filas que las de la tabla.",
    ),
    "fit-missing-integer": (
        "They may be empty; or are these whole numbers, written as declared?",
        "Pueden estar vacías; ¿o son números enteros, escritos como se declaró?",
    ),
    "fit-missing-real": (
        "They may be empty; or are decimals and thousands written as declared?",
        "Pueden estar vacías; ¿o los decimales y miles se escriben como se declaró?",
    ),
    "fit-missing-date": (
        "They may be empty; or are dates written as declared?",
        "Pueden estar vacías; ¿o las fechas se escriben como se declaró?",
    ),
    "fit-missing-timestamp": (
        "They may be empty; or are dates and times written as declared?",
        "Pueden estar vacías; ¿o las fechas y horas se escriben como se declaró?",
    ),
    "fit-missing-boolean": (
        "They may be empty; or has the file other words for yes and no?",
        "Pueden estar vacías; ¿o el archivo tiene otras palabras para sí y no?",
    ),
    "fit-missing-text": ("They are empty.", "Están vacías."),
    "fit-numbers-mean": (
        "Numbers are noised, with the interval that holds the true one in 95 of 100 cases; what is below 0 is shown as 0.",
        "Los números llevan ruido, con el intervalo que contiene el verdadero en 95 de cada 100 casos; lo que queda bajo 0 se muestra como 0.",
    ),
    "fit-paid": (
        "Paid: {cost}. Opening this page again is free.",
        "Se pagó: {cost}. Abrir esta página de nuevo es gratis.",
    ),
    "fit-release": ("Release {id}", "Publicación {id}"),
    "fit-offer": ("Check how many rows fit what you declared", "Revisar cuántas filas se ajustan a lo declarado"),
    "fit-why": (
        "The check is a question like any other: it says its price first, and is charged. It finds columns whose values were not understood, before an answer is bought that means nothing.",
        "La revisión es una pregunta como cualquiera: dice antes su precio y se cobra. Halla columnas cuyos valores no se entendieron, antes de comprar una respuesta que no diga nada.",
    ),
}
