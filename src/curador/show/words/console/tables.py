"""Tables: what is declared about each, in words; and the steps by which a new one is declared."""

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
    # -- a new table, step by step
    "new-upload": ("Bring a file from this computer", "Traer un archivo de este equipo"),
    "new-no-script": (
        "Your browser runs no scripts, so a file cannot be sent from here. Let whoever runs the server copy it below the study's folder, and write its path in the field below; everything else works without scripts.",
        "Su navegador no ejecuta scripts, así que desde aquí no se puede enviar un archivo. Pida a quien administra el servidor que lo copie debajo de la carpeta del estudio y escriba su ruta en el campo de abajo; todo lo demás funciona sin scripts.",
    ),
    "new-upload-hint": (
        "CSV, CSV.GZ or Parquet, up to {most}. It is sent as soon as you choose it, to the study's folder, where only the server reads it; nothing of it is read before you go on.",
        "CSV, CSV.GZ o Parquet, de hasta {most}. Se envía en cuanto lo elige, a la carpeta del estudio, donde solo lo lee el servidor; no se lee nada de él antes de que usted siga.",
    ),
    "new-upload-sending": ("The file is being sent…", "Se está enviando el archivo…"),
    "new-upload-done": (
        "The file is there. Say below how it is written, and go on.",
        "El archivo ya está. Diga abajo cómo está escrito y siga.",
    ),
    "new-upload-failed": (
        "The connection ended. Nothing was kept; choose the file again.",
        "La conexión terminó. No se guardó nada; elija el archivo de nuevo.",
    ),
    "new-title": ("A new table", "Una tabla nueva"),
    "new-lead": (
        "Everything stated here is public: take it from a codebook or the law, never from the data. No row is read.",
        "Todo lo que se declara aquí es público: tómelo de un libro de códigos o de la ley, nunca de los datos. No se lee ninguna fila.",
    ),
    "new-where": ("1. Where are the rows?", "1. ¿Dónde están las filas?"),
    "new-read-from": (
        "{source}: change the file, or how it is written",
        "{source}: cambiar el archivo o cómo está escrito",
    ),
    "new-source": ("File or address", "Archivo o dirección"),
    "new-source-hint": (
        "Filled in when you bring a file. Or a file below the study's folder, such as data/visits.csv; or postgresql://host/database#table, without its password.",
        "Se llena al traer un archivo. O un archivo debajo de la carpeta del estudio, como data/visits.csv; o postgresql://servidor/base#tabla, sin su contraseña.",
    ),
    "new-name": ("Name of the table", "Nombre de la tabla"),
    "new-name-hint": (
        "As questions will call it: letters, digits and _. Empty: that of the file.",
        "Como la llamarán las preguntas: letras, cifras y _. Vacío: el del archivo.",
    ),
    "new-csv": ("How the CSV file is written", "Cómo está escrito el archivo CSV"),
    "new-csv-means": (
        "Nothing of this is guessed from the data. A value that is written otherwise is read as missing, in silence: look into the file, or ask whoever made it.",
        "Nada de esto se adivina de los datos. Un valor escrito de otra forma se lee como faltante, en silencio: mire el archivo o pregunte a quien lo hizo.",
    ),
    "new-header": ("Its first line", "Su primera línea"),
    "new-header-choose": ("choose…", "elija…"),
    "new-header-yes": ("names the columns", "nombra las columnas"),
    "new-header-no": ("is a row already", "ya es una fila"),
    "new-header-hint": (
        "Chosen badly, a person's row would become public as names of columns.",
        "Mal elegido, la fila de una persona se haría pública como nombres de columnas.",
    ),
    "new-names": ("Names of all columns", "Nombres de todas las columnas"),
    "new-names-hint": (
        "Needed if the first line is a row: all of them, in their order, between commas; the file is not looked at to compare. With a header they stand in place of its names.",
        "Hacen falta si la primera línea es una fila: todos, en su orden, entre comas; el archivo no se mira para comparar. Con encabezado, van en lugar de sus nombres.",
    ),
    "new-delimiter": ("Between fields", "Entre campos"),
    "new-delimiter-hint": ("Excel in Spanish: a semicolon.", "Excel en español: punto y coma."),
    "new-mark-0": (", comma", ", coma"),
    "new-mark-1": ("; semicolon", "; punto y coma"),
    "new-mark-2": ("tab", "tabulador"),
    "new-mark-3": ("| bar", "| barra"),
    "new-encoding": ("Letters", "Letras"),
    "new-encoding-utf-8": ("UTF-8 (usual)", "UTF-8 (lo usual)"),
    "new-encoding-latin-1": ("Latin-1 (older programs)", "Latin-1 (programas antiguos)"),
    "new-encoding-hint": (
        "From Excel, save as “CSV UTF-8”.",
        "Desde Excel, guarde como «CSV UTF-8».",
    ),
    "new-numbers": ("Numbers are written", "Los números se escriben"),
    "new-dates": ("Dates are written", "Las fechas se escriben"),
    "new-date-example": ("{date} ({order})", "{date} ({order})"),
    "new-order-d": ("day first", "primero el día"),
    "new-order-m": ("month first", "primero el mes"),
    "new-order-y": ("year first", "primero el año"),
    "new-spaces": ("Spaces around values", "Espacios alrededor de los valores"),
    "new-spaces-drop": ("are dropped", "se quitan"),
    "new-spaces-keep": ("are part of the value", "son parte del valor"),
    "new-words": ("Other words for yes and no", "Otras palabras para sí y no"),
    "new-yes-words": ("Also read as yes", "También se leen como sí"),
    "new-no-words": ("Also read as no", "También se leen como no"),
    "change-unit-fixed": (
        "Something was asked already: what its budget protects is kept in the ledger, and is not changed here.",
        "Ya se preguntó algo: lo que protege su presupuesto está en el registro y no se cambia aquí.",
    ),
    "new-words-hint": (
        "For columns of yes or no, such as sí; between commas. true, yes, t, y, 1 and false, no, f, n, 0 are read anyway.",
        "Para columnas de sí o no; entre comas. true, yes, t, y, 1 y false, no, f, n, 0 se leen de todos modos.",
    ),
    "new-read-button": ("Read the names of columns", "Leer los nombres de las columnas"),
    "new-read-means": (
        "Of a CSV the first line is read if it names the columns, of anything else the names and types of columns. Nothing is charged, because nothing about anybody is read.",
        "De un CSV se lee la primera línea si nombra las columnas; de lo demás, los nombres y tipos de las columnas. No se cobra nada, porque no se lee nada sobre nadie.",
    ),
    "new-mistakes": ("{n} things to correct:", "Hay {n} cosas que corregir:"),
    "new-mistakes-one": ("One thing to correct:", "Hay una cosa que corregir:"),
    "new-whose": ("2. Whom does it protect?", "2. ¿A quién protege?"),
    "new-choose": ("choose…", "elija…"),
    "new-unit": ("One person is", "Una persona es"),
    "new-unit-row": ("one row", "una fila"),
    "new-unit-id": ("all rows with the same {column}", "todas las filas con el mismo {column}"),
    "new-unit-hint": (
        "If a person may have several rows, choose the column that says whose they are. Chosen badly, only one row of a person is protected, and the sum of all is not.",
        "Si una persona puede tener varias filas, elija la columna que dice de quién son. Mal elegido, solo se protege una fila de la persona y no la suma de todas.",
    ),
    "new-neighbors": ("Protected is", "Se protege"),
    "new-add-remove": ("whether a person is in it", "si una persona está en ella"),
    "new-replace": ("what a person's rows say", "qué dicen las filas de una persona"),
    "new-neighbors-hint": (
        "The second only if it is public how many people there are and that never changes; otherwise who is in the data can be learned.",
        "Lo segundo solo si es público cuántas personas hay y eso nunca cambia; si no, se puede averiguar quién está en los datos.",
    ),
    "new-neighbors-fixed": (
        "As in the other tables, which share one budget with it.",
        "Como en las demás tablas, que comparten un presupuesto con ella.",
    ),
    "new-size": ("Number of people, if public", "Número de personas, si es público"),
    "new-size-hint": ("May stay empty.", "Puede quedar vacío."),
    "new-groups": ("Groups in which a person counts, at most", "Grupos en que cuenta una persona, a lo sumo"),
    "new-rows": ("Rows of a person in each group, at most", "Filas de una persona en cada grupo, a lo sumo"),
    "new-groups-hint": (
        "Answers have groups: “visits by month” has one for each month. Not sure? 1.",
        "Las respuestas tienen grupos: «visitas por mes» tiene uno por mes. ¿No sabe? 1.",
    ),
    "new-rows-hint": (
        "As many as nearly everyone has, by what you know of them and not from the data.",
        "Tantas como tiene casi todo el mundo, según lo que usted sabe y no según los datos.",
    ),
    "new-limits-hint": (
        "For example 12 months with at most 3 visits in each: 12 and 3. Rows beyond that are left out at random, which biases answers; and noise grows with groups × rows: 12 and 3 have 36 times the noise of 1 and 1.",
        "Por ejemplo, 12 meses con a lo sumo 3 visitas en cada uno: 12 y 3. Las filas de más se omiten al azar, lo que sesga; y el ruido crece con grupos × filas: 12 y 3 tienen 36 veces el ruido de 1 y 1.",
    ),
    "new-budget-epsilon": ("Budget of this table: epsilon", "Presupuesto de esta tabla: épsilon"),
    "new-budget-hint": (
        "In this study every table has its own, and a person who is in two tables loses both. It can be raised later, and never lowered.",
        "En este estudio cada tabla tiene el suyo, y quien está en dos tablas pierde ambos. Se puede aumentar después, y nunca bajar.",
    ),
    "new-budget-delta": ("and delta, if there is one", "y delta, si lo hay"),
    "new-budget-delta-hint": (
        "Such as 1e-6: with it, groups that are not listed can be found privately.",
        "Como 1e-6: con él se pueden hallar de forma privada grupos que no están en la lista.",
    ),
    "new-columns": ("3. What is public about its columns?", "3. ¿Qué es público de sus columnas?"),
    "new-columns-lead": (
        "Columns that nobody will ask about are left out: what is not declared cannot be asked.",
        "Las columnas por las que nadie preguntará se dejan fuera: lo que no se declara no se puede preguntar.",
    ),
    "new-left-out": ("left out", "se deja fuera"),
    "new-type": ("What it holds", "Qué contiene"),
    "new-public": ("What is possible in it", "Qué es posible en ella"),
    "new-low": ("Lowest", "Mínimo"),
    "new-high": ("Highest", "Máximo"),
    "new-keys": ("Its values", "Sus valores"),
    "new-truths-hint": (
        "true, yes, t, y, 1; false, no, f, n, 0; and what you added in part 1. Anything else is missing: for other words choose text.",
        "true, yes, t, y, 1; false, no, f, n, 0; y lo que añadió en la parte 1. Lo demás es faltante: para otras palabras elija texto.",
    ),
    "new-bounds-hint": (
        "Lowest and highest: what is possible by the codebook, needed for sums, means and quantiles. Too narrow cuts values off, too wide makes noise large, and taken from the data they reveal its extremes.",
        "Mínimo y máximo: lo posible según el libro de códigos; hacen falta para sumas, medias y cuantiles. Muy estrechos cortan valores, muy anchos agrandan el ruido y, tomados de los datos, revelan sus extremos.",
    ),
    "new-keys-hint": (
        "Its values are the groups that may be shown: one in each line, or between commas or semicolons. Rows with another value are in no group.",
        "Sus valores son los grupos que se pueden mostrar: uno por línea, o entre comas o puntos y comas. Las filas con otro valor no están en ningún grupo.",
    ),
    "new-keys-delta": (
        "Without a list, groups are found privately, and those of few people are left out.",
        "Sin lista, los grupos se hallan de forma privada y se omiten los de pocas personas.",
    ),
    "new-keys-no-delta": (
        "Without a list, nobody can group by that column here: this study's budget (epsilon without a delta) does not pay for finding groups.",
        "Sin lista, nadie podrá agrupar por esa columna aquí: el presupuesto de este estudio (épsilon sin delta) no paga por hallar grupos.",
    ),
    "new-check-button": ("Check and preview", "Revisar y ver antes"),
    "new-preview": ("4. What will be declared of {table}", "4. Lo que se declarará de {table}"),
    "new-understood": ("As it was understood", "Como se entendió"),
    "new-file": (
        "The study file as it would be, for who reads such files",
        "El archivo del estudio tal como quedaría, para quien lee tales archivos",
    ),
    "new-file-now": (
        "The study file as it is now, for who reads such files",
        "El archivo del estudio tal como está ahora, para quien lee tales archivos",
    ),
    "new-write-means": (
        "Types, bounds and values can be changed later. Once something was asked, whom the table protects cannot: that is kept in the ledger.",
        "Los tipos, límites y valores se pueden cambiar después. Una vez que se pregunte algo, a quién protege la tabla ya no: eso queda en el registro.",
    ),
    "new-write-button": ("Declare {table}", "Declarar {table}"),
    "new-written": ("{table} is declared", "{table} está declarada"),
    "new-served": (
        "It can be asked about now. Nothing of it was read yet, and nothing was spent.",
        "Ya se puede preguntar por ella. Aún no se ha leído nada de ella ni se ha gastado nada.",
    ),
    "new-restart": (
        "It is written in the study file, but the server could not open it by itself: whoever runs it has to start it again. Until then everything goes on as before.",
        "Está escrita en el archivo del estudio, pero el servidor no pudo abrirla por sí mismo: quien lo opera debe iniciarlo de nuevo. Hasta entonces todo sigue como antes.",
    ),
    # -- a declaration in words
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
    # -- what is wrong with a form that declares a table
    "wrong-source-needed": (
        "Bring a file above, or write where the rows are.",
        "Traiga un archivo arriba o escriba dónde están las filas.",
    ),
    "wrong-no-source": (
        "There is no such file below the study's folder. Bring it above, or correct its path.",
        "No hay tal archivo debajo de la carpeta del estudio. Tráigalo arriba o corrija su ruta.",
    ),
    "wrong-too-many-columns": (
        "This has more than {most} columns, too many for a form.",
        "Tiene más de {most} columnas, demasiadas para un formulario.",
    ),
    "wrong-source-refused": ("This could not be opened: {what} {fix}", "No se pudo abrir: {what} {fix}"),
    "wrong-name-odd": (
        "A name has letters, digits and _, and begins with a letter: visits_2025.",
        "Un nombre tiene letras, cifras y _, y empieza con una letra: visitas_2025.",
    ),
    "wrong-name-taken": (
        "A table {name} is declared already: write another name here. To correct that one, choose “Change” on the page of tables.",
        "Ya hay una tabla {name}: escriba otro nombre aquí. Para corregir aquella, elija «Cambiar» en la página de tablas.",
    ),
    "wrong-header-unsaid": (
        "Does the first line name the columns? Nothing is read before you say it.",
        "¿La primera línea nombra las columnas? No se lee nada antes de que lo diga.",
    ),
    "wrong-not-offered": ("Choose one of the list.", "Elija uno de la lista."),
    "wrong-names-needed": (
        "The first line is a row, so the columns have no names yet: write all of them here, in their order, between commas.",
        "La primera línea es una fila, así que las columnas aún no tienen nombre: escríbalos todos aquí, en su orden, entre comas.",
    ),
    "wrong-csv-delimiter": (
        "The first line is a single field with {mark} in it: choose {mark} here.",
        "La primera línea es un solo campo que contiene {mark}: elija {mark} aquí.",
    ),
    "wrong-csv-encoding": (
        "The first line is not text in these letters: choose the other ones, or save the file as “CSV UTF-8” and bring it again.",
        "La primera línea no es texto con estas letras: elija las otras, o guarde el archivo como «CSV UTF-8» y tráigalo de nuevo.",
    ),
    "wrong-windows-1252": (
        "The names of columns have characters, such as €, that Latin-1 has not. Save the file as “CSV UTF-8” and bring it again.",
        "Los nombres de columnas tienen caracteres, como €, que Latin-1 no tiene. Guarde el archivo como «CSV UTF-8» y tráigalo de nuevo.",
    ),
    "wrong-csv-spaces": (
        "The names of columns have spaces around them: choose “are dropped”.",
        "Los nombres de columnas tienen espacios alrededor: elija «se quitan».",
    ),
    "wrong-csv-names": (
        "You wrote {named} names, and the first line has {fields} fields: write all names, or check what stands between fields.",
        "Escribió {named} nombres y la primera línea tiene {fields} campos: escríbalos todos o revise qué hay entre campos.",
    ),
    "wrong-csv-header": (
        "The first line does not name each column once. If it is a row, say so; if it is a header, write the names of all columns below.",
        "La primera línea no nombra cada columna una vez. Si es una fila, dígalo; si es un encabezado, escriba abajo los nombres de todas las columnas.",
    ),
    "wrong-header-like-values": (
        "The first line looks like a row: its field {place} looks like a value. If it is a row, say so; if it is a header, write the names of all columns below.",
        "La primera línea parece una fila: su campo {place} parece un valor. Si es una fila, dígalo; si es un encabezado, escriba abajo los nombres de todas las columnas.",
    ),
    "wrong-unit-unsaid": ("Whose is a row? Choose one.", "¿De quién es una fila? Elija."),
    "wrong-groups-needed": (
        "Write a whole number from 1 on; 1 if you are not sure.",
        "Escriba un número entero desde 1; si no sabe, 1.",
    ),
    "wrong-rows-needed": (
        "Write a whole number from 1 on: as many rows as nearly everyone has in a group.",
        "Escriba un número entero desde 1: tantas filas como tiene casi todo el mundo en un grupo.",
    ),
    "wrong-size-odd": (
        "Write a whole number from 1 on, or leave it empty.",
        "Escriba un número entero desde 1 o déjelo vacío.",
    ),
    "wrong-budget-epsilon": ("Write a number above 0, such as 1.", "Escriba un número mayor que 0, como 1."),
    "wrong-budget-delta": (
        "Write a number between 0 and 1, such as 1e-6, or leave it empty.",
        "Escriba un número entre 0 y 1, como 1e-6, o déjelo vacío.",
    ),
    "wrong-no-column": (
        "No column is declared yet: choose what at least one of them holds.",
        "Aún no se declara ninguna columna: elija qué contiene al menos una.",
    ),
    "wrong-low-too": ("Write the lowest too.", "Escriba también el mínimo."),
    "wrong-high-too": ("Write the highest too.", "Escriba también el máximo."),
    "wrong-bounds-swapped": (
        "The lowest ({low}) is above the highest ({high}): swap them.",
        "El mínimo ({low}) está por encima del máximo ({high}): cámbielos de lugar.",
    ),
    "wrong-bounds-equal": (
        "Lowest and highest are the same: nothing between them could be asked.",
        "El mínimo y el máximo son iguales: no se podría preguntar nada entre ellos.",
    ),
    "wrong-bounds-wide": ("This number is too large.", "Este número es demasiado grande."),
    "wrong-not-number": (
        "{text} is not a number: write it as 1234.5.",
        "{text} no es un número: escríbalo como 1234.5.",
    ),
    "wrong-number-unclear": (
        "Is {text} meant as {one} or as {other}? Write one of these.",
        "¿{text} quiere decir {one} o {other}? Escriba uno de estos.",
    ),
    "wrong-not-whole": ("{text} is not a whole number.", "{text} no es un número entero."),
    "wrong-not-date": ("{text} is not a date: write {right}.", "{text} no es una fecha: escriba {right}."),
    "wrong-not-moment": (
        "{text} is not a date and time: write {right}.",
        "{text} no es una fecha y hora: escriba {right}.",
    ),
    "wrong-list-unclear": (
        "This has commas and semicolons: write one value in each line, or use only one of them between values.",
        "Hay comas y puntos y comas: escriba un valor por línea o use solo uno de ellos entre valores.",
    ),
    "wrong-list-twice": ("{text} is there twice.", "{text} está dos veces."),
    "wrong-list-long": (
        "Too many values, or one that is too long: at most {most}, each of 1,000 characters.",
        "Demasiados valores, o uno demasiado largo: a lo sumo {most}, cada uno de 1.000 caracteres.",
    ),
    "wrong-list-odd": (
        "{text} has a character that cannot be seen: type it again.",
        "{text} tiene un carácter invisible: escríbalo de nuevo.",
    ),
    "wrong-not-latin-1": (
        "{text} has letters that a Latin-1 file has not, so no row has it: correct it, or choose UTF-8 in part 1.",
        "{text} tiene letras que un archivo Latin-1 no tiene, así que ninguna fila lo tiene: corríjalo o elija UTF-8 en la parte 1.",
    ),
    # -- how many rows fit
    "fit-offer": ("Check how many rows fit what you declared", "Revisar cuántas filas se ajustan a lo declarado"),
    "fit-why": (
        "The check is a question like any other: it says its price first, and is charged. It finds columns whose values were not understood, before an answer is bought that means nothing.",
        "La revisión es una pregunta como cualquiera: dice antes su precio y se cobra. Halla columnas cuyos valores no se entendieron, antes de comprar una respuesta que no diga nada.",
    ),
}
