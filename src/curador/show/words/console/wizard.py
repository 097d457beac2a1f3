"""The texts of the steps by which a table is declared."""

TEXTS = {
    "title": ("A new table", "Una tabla nueva"),
    "lead": (
        "Everything stated here is public: take it from a codebook or the law, never from the data. No row is read.",
        "Todo lo que se declara aquí es público: tómelo de un libro de códigos o de la ley, nunca de los datos. No se lee ninguna fila.",
    ),
    "where": ("1. Where are the rows?", "1. ¿Dónde están las filas?"),
    "source": ("File or address", "Archivo o dirección"),
    "source-hint": (
        "A CSV or Parquet file below the study's folder, such as data/visits.csv; or postgresql://host/database#table, without its password.",
        "Un archivo CSV o Parquet debajo de la carpeta del estudio, como data/visits.csv; o postgresql://servidor/base#tabla, sin su contraseña.",
    ),
    "name": ("Name of the table", "Nombre de la tabla"),
    "name-hint": (
        "As questions will call it; empty: that of the file.",
        "Como la llamarán las preguntas; vacío: el del archivo.",
    ),
    "header": ("First line of a CSV", "Primera línea de un CSV"),
    "header-yes": ("names the columns", "nombra las columnas"),
    "header-no": ("is a row already", "ya es una fila"),
    "header-hint": (
        "Chosen badly, a person's row would become public as names of columns.",
        "Mal elegido, la fila de una persona se haría pública como nombres de columnas.",
    ),
    "names": ("Names of all columns", "Nombres de todas las columnas"),
    "names-hint": (
        "Only without a header: in their order, between commas.",
        "Solo sin encabezado: en su orden, entre comas.",
    ),
    "delimiter": ("Fields of a CSV are split by", "Los campos de un CSV se separan por"),
    "tab": ("tab", "tabulador"),
    "read-button": ("Read the names of columns", "Leer los nombres de las columnas"),
    "read-means": (
        "Of a CSV the first line is read, of anything else the names and types of columns. Nothing is charged, because nothing about anybody is read.",
        "De un CSV se lee la primera línea; de lo demás, los nombres y tipos de las columnas. No se cobra nada, porque no se lee nada sobre nadie.",
    ),
    "whose": ("2. Whom does it protect?", "2. ¿A quién protege?"),
    "choose": ("choose…", "elija…"),
    "unit": ("One person is", "Una persona es"),
    "unit-row": ("one row", "una fila"),
    "unit-hint": (
        "If a person may have several rows, choose the column that says whose they are. Chosen badly, only one row of a person is protected, and the sum of all is not.",
        "Si una persona puede tener varias filas, elija la columna que dice de quién son. Mal elegido, solo se protege una fila de la persona y no la suma de todas.",
    ),
    "neighbors": ("Protected is", "Se protege"),
    "add-remove": ("whether a person is in it", "si una persona está en ella"),
    "replace": ("what a person's rows say", "qué dicen las filas de una persona"),
    "neighbors-hint": (
        "The second only if it is public how many people there are and that never changes; otherwise who is in the data can be learned.",
        "Lo segundo solo si es público cuántas personas hay y eso nunca cambia; si no, se puede averiguar quién está en los datos.",
    ),
    "groups": ("Groups of one person", "Grupos de una persona"),
    "rows": ("Rows in each group", "Filas en cada grupo"),
    "contribution-hint": (
        "With an id: in how many groups of an answer a person counts at most. Too few drops rows, which biases answers; too many makes noise large.",
        "Con un id: en cuántos grupos de una respuesta cuenta a lo sumo una persona. Muy pocos descartan filas y sesgan; demasiados agrandan el ruido.",
    ),
    "rows-hint": ("With an id: how many rows count there.", "Con un id: cuántas filas cuentan ahí."),
    "columns": ("3. What is public about its columns?", "3. ¿Qué es público de sus columnas?"),
    "columns-lead": (
        "Columns that nobody will ask about are left out: what is not declared cannot be asked.",
        "Las columnas por las que nadie preguntará se dejan fuera: lo que no se declara no se puede preguntar.",
    ),
    "left-out": ("left out", "se deja fuera"),
    "type": ("Type", "Tipo"),
    "low": ("Lowest", "Mínimo"),
    "high": ("Highest", "Máximo"),
    "keys": ("Keys, between commas", "Claves, entre comas"),
    "bounds-hint": (
        "Bounds are needed for sums, means and quantiles. Too narrow cuts values off and biases them; too wide makes noise large; taken from the data they reveal its extremes.",
        "Los límites se necesitan para sumas, medias y cuantiles. Muy estrechos cortan valores y sesgan; muy anchos agrandan el ruido; tomados de los datos revelan sus extremos.",
    ),
    "keys-hint": (
        "Keys are the groups of a text column that are public. Rows with another value are in no group; without keys, groups are selected privately, which needs a delta.",
        "Las claves son los grupos públicos de una columna de texto. Las filas con otro valor no están en ningún grupo; sin claves, los grupos se eligen de forma privada, lo que necesita un delta.",
    ),
    "check-button": ("Show the study file", "Mostrar el archivo del estudio"),
    "file": ("4. The study file as it would be", "4. El archivo del estudio tal como quedaría"),
    "write-means": (
        "Once something was asked about the table, what its budget protects cannot be changed in silence: the unit is kept in the ledger.",
        "Una vez que se pregunte por la tabla, lo que su presupuesto protege no se puede cambiar en silencio: la unidad queda en el registro.",
    ),
    "write-button": ("Write the study file", "Escribir el archivo del estudio"),
    "written": ("The study file was written", "El archivo del estudio fue escrito"),
    "restart": (
        "Restart the server (stop it with Ctrl-C, and run curador serve again): all its processes then serve the table. Until then everything goes on as before.",
        "Reinicie el servidor (deténgalo con Ctrl-C y ejecute curador serve otra vez): todos sus procesos servirán la tabla. Hasta entonces todo sigue como antes.",
    ),
}
