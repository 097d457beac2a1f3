"""What is wrong with a form that declares a table: next to its field, and what to write instead."""

TEXTS = {
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
        "The first line is a single field with “{mark}” in it: choose “{mark}” here.",
        "La primera línea es un solo campo que contiene «{mark}»: elija «{mark}» aquí.",
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
    "wrong-unit-reason": (
        "You change whom the table protects: write why. It is kept in the ledger.",
        "Usted cambia a quién protege la tabla: escriba por qué. Queda en el registro.",
    ),
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
}
