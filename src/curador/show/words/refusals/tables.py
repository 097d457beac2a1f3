"""A table: its file, its columns, and whom it protects."""

ES: dict[str, tuple[str, str]] = {
    "header-unstated": (
        "¿La primera línea nombra las columnas? Una fila ahí se haría pública.",
        "Diga si hay encabezado; si no, escriba los nombres de todas las columnas, en su orden.",
    ),
    "bounds-whole": ("Los límites de una columna de enteros son números enteros.", "Escríbalos sin decimales."),
    "bounds-too-fine": ("Los límites de {low} a {high} son demasiado anchos para contarlos.", "Estréchelos."),
    "keys-twice": ("Hace falta al menos una clave, y cada una una sola vez.", "Escriba cada clave una vez."),
    "not-a-key": ("{key} no es un valor de esta columna.", "Escriba claves de su tipo."),
    "csv-unreadable": ("El archivo CSV no se puede leer como tabla.", "Mire su separador, sus comillas y sus líneas."),
    "table-unreadable": ("La tabla no se puede leer.", "Mire su dirección y su formato."),
    "not-a-table-file": ("El archivo no es ni Parquet ni CSV.", "Elija uno que termine en .csv, .csv.gz o .parquet."),
    "ids-of-two-kinds": (
        "Los identificadores de {tables} llevan signo en una tabla y no en otra.",
        "Guárdelos igual, o pregunte a cada tabla por separado.",
    ),
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
    "no-such-table": ("No hay una tabla {table}. Hay: {known}.", "Escriba una de ellas."),
    "not-a-moment": ("{given} no es una fecha y hora.", "Escríbala como 2020-01-31 12:30:00."),
    "not-a-day": ("{given} no es una fecha.", "Escríbala como 2020-01-31."),
    "step-too-fine": ("El paso es demasiado fino.", "Elija uno más grueso."),
    "text-too-long": ("Un texto es demasiado largo.", "Escriba a lo sumo {most} caracteres."),
    "text-odd": ("Un texto tiene un carácter invisible o la mitad de uno.", "Escríbalo de nuevo."),
    "both-yes-and-no": ("{word} sería a la vez sí y no.", "Quítelo de una de las dos listas."),
    "source-needed": ("No se dice dónde están las filas.", "Escriba la ruta de un archivo, o motor://…#tabla."),
    "engine-address": (
        "Una tabla de un motor se escribe motor://…#tabla o motor://…#esquema.tabla.",
        "Escriba el motor delante de ://, y la tabla detrás de #.",
    ),
    "unknown-engine": ("No hay un motor {scheme}.", "Escriba duckdb://…#tabla o postgresql://…#tabla."),
    "unit-unsaid": (
        "No se dice a quién protege la tabla.",
        "Diga si cada fila es otra persona, o qué columna dice de quién es.",
    ),
    "unit-undeclared": (
        "La columna {column}, que dice de quién es una fila, no está declarada.",
        "Declare su tipo, o corrija su nombre.",
    ),
    "unit-type": ("{column} dice de quién es una fila y no es ni texto ni entero.", "Declárela como uno de los dos."),
    "name-length": ("Un nombre tiene de 1 a {most} caracteres.", "Dele otro."),
    "names-alike": (
        "Los nombres {other} y {name} solo difieren en mayúsculas o son el mismo.",
        "Dé otro nombre a uno.",
    ),
    "control-character": ("Un nombre tiene un carácter invisible.", "Escríbalo de nuevo."),
    "name-reserved": ("{name} es un nombre que solo da el registro.", "Elija otro."),
    "name-spaces": ("Un nombre empieza o termina con un espacio.", "Quítelo."),
    "name-unprintable": ("Un nombre tiene de 1 a {most} caracteres, todos visibles.", "Elija otro."),
    "table-ambiguous": (
        "El nombre {table} y su origen están registrados como datos distintos.",
        "Dele el nombre, o el origen, que tenía antes.",
    ),
    "table-bound": ("{table} gasta ya del presupuesto {scope}.", "Dé otro nombre a la tabla nueva."),
    "no-file": ("No hay un archivo {file}.", "Corrija la ruta de la tabla."),
    "no-column-in-source": ("No hay una columna {column} en el origen.", "Corrija su nombre, o quítela."),
    "stored-otherwise": (
        "La columna {column} no está guardada de modo que se pueda leer como {type}.",
        "Declare otro tipo para ella.",
    ),
    "id-spellings": (
        "En la columna {column}, que dice de quién es una fila, la base de datos toma textos distintos por uno mismo.",
        "Elija otra columna, o guarde esta de un solo modo.",
    ),
    "csv-files-differ": (
        "Los archivos CSV de una tabla tienen columnas distintas, o en otro orden.",
        "Dé a todos el mismo encabezado, o declárelos como tablas aparte.",
    ),
    "csv-names": (
        "Los nombres de columnas no son tantos como los campos de la primera línea.",
        "Escriba los nombres de todas, en su orden.",
    ),
    "no-database-file": ("No hay un archivo de DuckDB {file}.", "Corrija su ruta."),
    "no-table-in-database": ("No hay una tabla {table} en la base de datos.", "Corrija su nombre."),
    "database-closed": (
        "La base de datos de PostgreSQL no responde o no deja entrar.",
        "Mire su dirección, el usuario y las tablas.",
    ),
    "driver-missing": (
        "El servidor no tiene el programa para leer esto.",
        "Pida a quien lleva el servidor que lo instale.",
    ),
    "not-in-form": (
        "Esta tabla está declarada de un modo para el que el formulario no tiene campos.",
        "Cámbiela en el archivo del estudio.",
    ),
    "not-a-check": ("Esta publicación no es la revisión de una tabla.", "Mírela entre las publicaciones."),
    "upload-ended": ("La conexión se cortó.", "Envíe el archivo de nuevo."),
}
