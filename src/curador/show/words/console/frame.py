"""What all pages share: navigation, forms, signing in, refusals."""

TEXTS = {
    "utc": ("{at} UTC", "{at} UTC"),
    # -- around every page
    "product": ("Curador", "Curador"),
    "skip": ("Skip to the content", "Ir al contenido"),
    "pages": ("Pages", "Páginas"),
    "settings": ("Display", "Presentación"),
    "language-en": ("English", "English"),
    "language-es": ("Español", "Español"),
    "theme": ("Theme", "Tema"),
    "theme-auto": ("Automatic", "Automático"),
    "theme-light": ("Light", "Claro"),
    "theme-dark": ("Dark", "Oscuro"),
    "foot": (
        "Answers leave here with noise; what they cost is in the ledger.",
        "Las respuestas salen de aquí con ruido; lo que cuestan queda en el registro.",
    ),
    "copy": ("Copy", "Copiar"),
    "copied": ("Copied", "Copiado"),
    # -- the names of pages
    "nav-overview": ("Overview", "Resumen"),
    "nav-tables": ("Tables", "Tablas"),
    "nav-ask": ("Ask", "Preguntar"),
    "nav-dashboards": ("Dashboards", "Tableros"),
    "nav-releases": ("Releases", "Publicaciones"),
    "nav-analysts": ("Analysts", "Analistas"),
    "nav-ledger": ("Ledger", "Registro"),
    "nav-collect": ("Collect", "Recolectar"),
    "nav-models": ("Models", "Modelos"),
    "nav-audit": ("Audit", "Auditoría"),
    "nav-playground": ("Playground", "Laboratorio"),
    # -- roles
    "role-curator": ("curator", "curador"),
    "role-analyst": ("analyst", "analista"),
    "role-auditor": ("auditor", "auditor"),
    "role-reader": ("reader", "lector"),
    # -- signing in
    "sign-in": ("Sign in", "Iniciar sesión"),
    "sign-in-lead": (
        "With your name and password, or with a token that the curator gave you.",
        "Con su nombre y contraseña, o con un token que le dio el curador.",
    ),
    "sign-out": ("Sign out", "Cerrar sesión"),
    "login": ("Name", "Nombre"),
    "password": ("Password", "Contraseña"),
    "password-again": ("The same password again", "La misma contraseña otra vez"),
    "token": ("Token", "Token"),
    "token-hint": (
        "It begins with cur_ and is used here only to open your session.",
        "Comienza con cur_ y aquí solo sirve para abrir su sesión.",
    ),
    "with-token": ("Sign in with a token", "Iniciar sesión con un token"),
    "start": ("Welcome", "Le damos la bienvenida"),
    "start-lead": (
        "Your link works once. Choose a name and a password; after that you sign in with them.",
        "Su enlace sirve una sola vez. Elija un nombre y una contraseña; después iniciará sesión con ellos.",
    ),
    "start-button": ("Use the link and sign in", "Usar el enlace e iniciar sesión"),
    "code": ("Code", "Código"),
    "code-hint": (
        "It is the part of your link after #; normally it is filled in already.",
        "Es la parte de su enlace después de #; normalmente ya está escrita.",
    ),
    "login-hint": (
        "You sign in with it, in small or capital letters, with the same accents. Others may see it.",
        "Con él iniciará sesión; da igual en mayúsculas o minúsculas, con las mismas tildes. Otros pueden verlo.",
    ),
    "password-hint": (
        "At least {least} characters: four words that do not belong together are easy to remember.",
        "Al menos {least} caracteres: cuatro palabras sin relación son fáciles de recordar.",
    ),
    "own-password": ("Your password", "Su contraseña"),
    "own-lead": ("You sign in as {login}.", "Usted inicia sesión como {login}."),
    "own-old": ("The password you have", "La contraseña actual"),
    "own-new": ("The new password", "La contraseña nueva"),
    "own-means": (
        "All sessions that began with the old password end, in every browser; this one goes on.",
        "Todas las sesiones iniciadas con la contraseña anterior terminan, en todos los navegadores; esta continúa.",
    ),
    "own-button": ("Change the password", "Cambiar la contraseña"),
    "own-changed": (
        "Your password was changed, and other sessions have ended.",
        "Su contraseña fue cambiada, y las demás sesiones terminaron.",
    ),
    "own-none": (
        "You signed in with a token, which has no password. For one, ask the curator for a link that works once.",
        "Usted inició sesión con un token, que no tiene contraseña. Para tener una, pida al curador un enlace de un solo uso.",
    ),
    "error-not-your-password": (
        "This is not your password. Nothing was changed; try again.",
        "Esta no es su contraseña. No se cambió nada; inténtelo de nuevo.",
    ),
    # -- refusals
    "refused": ("This was refused", "Esto fue rechazado"),
    "to-do": ("What to do: {fix}", "Qué hacer: {fix}"),
    "cost": ("What it cost: {cost}.", "Lo que costó: {cost}."),
    "back": ("To the overview", "Al resumen"),
    "error-wrong-password": (
        "Name and password do not belong together. Try again, or ask the curator for a new link.",
        "El nombre y la contraseña no se corresponden. Inténtelo de nuevo o pida al curador un enlace nuevo.",
    ),
    "error-token-unknown": (
        "This token opens nothing: it is unknown, or it has ended. Ask the curator for one.",
        "Este token no abre nada: es desconocido o ya terminó. Pida uno al curador.",
    ),
    "error-code-unknown": (
        "This link was used already, or it has ended. Ask whoever gave it to you for a new one.",
        "Este enlace ya fue usado o ya terminó. Pida uno nuevo a quien se lo dio.",
    ),
    "error-outside": ("Write a number from {least} to {most}.", "Escriba un número de {least} a {most}."),
    "error-outside-whole": (
        "Write a whole number from {least} to {most}.",
        "Escriba un número entero de {least} a {most}.",
    ),
    "error-login-taken": ("This name is taken. Choose another one.", "Este nombre ya está en uso. Elija otro."),
    "error-login-of-analyst": (
        "An analyst of this study has this name, and the link is not theirs. Choose another one.",
        "Un analista de este estudio tiene este nombre, y el enlace no es suyo. Elija otro.",
    ),
    "error-password-length": (
        "A password has {least} to {most} characters. Choose a longer one, such as four words.",
        "Una contraseña tiene de {least} a {most} caracteres. Elija una más larga, por ejemplo cuatro palabras.",
    ),
    "error-passwords-differ": (
        "The two passwords differ. Type the same one twice.",
        "Las dos contraseñas difieren. Escriba la misma dos veces.",
    ),
    "error-form-not-valid": (
        "This page is not valid any more: the session has ended, or it was opened elsewhere. Nothing was done. Open the page again.",
        "Esta página ya no es válida: la sesión terminó o se abrió en otra parte. No se hizo nada. Abra la página de nuevo.",
    ),
    "error-not-allowed": (
        "Your role does not open this page. Ask the curator.",
        "Su rol no abre esta página. Consulte al curador.",
    ),
    "not-found": ("Not found", "No se encontró"),
    "error-not-found": (
        "There is nothing at this address, or nothing that you may see. Look whether it is written right.",
        "No hay nada en esta dirección, o nada que usted pueda ver. Mire si está bien escrita.",
    ),
    "sign-in-nobody": (
        "There is no curator here yet. Open the link that the terminal shows where the server was started; started again, it shows a new one.",
        "Aquí aún no hay curador. Abra el enlace que muestra la terminal donde se inició el servidor; si se inicia de nuevo, muestra otro.",
    ),
    "only-here": (
        "This address opens on this computer only, since the server listens on {host}. Others reach it with a certificate, or behind a proxy that has one: the documentation says how, under serve-a-study.",
        "Esta dirección solo abre en este equipo, porque el servidor escucha en {host}. Otros llegan con un certificado, o detrás de un proxy que lo tenga: la documentación dice cómo, en serve-a-study.",
    ),
    "no-tables": (
        "There is no table to ask about yet. The curator declares one first.",
        "Aún no hay ninguna tabla sobre la que preguntar. Primero el curador declara una.",
    ),
    "no-tables-bring": (
        "This study has no tables yet. Say where the first one is, whom it protects and what its columns may hold: step by step, and no row is read.",
        "Este estudio aún no tiene tablas. Diga dónde está la primera, a quién protege y qué pueden contener sus columnas: paso a paso, y no se lee ninguna fila.",
    ),
    "bring-first": ("Bring your first table", "Traer su primera tabla"),
    "error-no-tables-yet": (
        "This study has no tables yet. The curator declares one first.",
        "Este estudio aún no tiene tablas. Primero el curador declara una.",
    ),
    "error-not-recalled": (
        "What charge {charge} bought is kept, but not how it was planned, so that it cannot be shown again. Asking the same in the same way is free while everything is declared as it was then; otherwise it is paid for again.",
        "Lo que compró el cargo {charge} se conserva, pero no cómo se planificó, así que no se puede volver a mostrar. Preguntar lo mismo de la misma manera es gratis mientras todo esté declarado como entonces; si no, se paga de nuevo.",
    ),
    "error-not-shown": (
        "What this link is for cannot be shown any more. Ask whoever gave it to you for its report.",
        "Lo que abre este enlace ya no se puede mostrar. Pida su informe a quien se lo dio.",
    ),
    "error-method": ("This address does not do that.", "Esta dirección no hace eso."),
    "error-too-many": (
        "There are too many requests. Wait a minute.",
        "Hay demasiadas solicitudes. Espere un minuto.",
    ),
    "error-field-sql": (
        "There is no question yet. Write SQL, or build one.",
        "Aún no hay pregunta. Escriba SQL o construya una.",
    ),
    "error-field-epsilon": (
        "There is no price yet. Write an epsilon, such as 0.1.",
        "Aún no hay precio. Escriba un épsilon, como 0.1.",
    ),
    "error-field-error": ("Write the largest error that you accept.", "Escriba el mayor error que acepta."),
    "error-field-rows": (
        "Write a whole number of rows, or leave it empty.",
        "Escriba un número entero de filas o déjelo vacío.",
    ),
    "error-builder-field": (
        "Choose a table, a column and a comparison.",
        "Elija una tabla, una columna y una comparación.",
    ),
    "error-builder-count-distinct": (
        "Choose the column whose different values are counted.",
        "Elija la columna cuyos valores distintos se cuentan.",
    ),
    "error-builder-sum": ("Choose the column to add up.", "Elija la columna que se suma."),
    "error-builder-mean": ("Choose the column to take the mean of.", "Elija la columna de la que se toma la media."),
    "error-builder-quantiles": (
        "Choose the column to take the median of.",
        "Elija la columna de la que se toma la mediana.",
    ),
    "error-builder-std": (
        "Choose the column to take the deviation of.",
        "Elija la columna de la que se toma la desviación.",
    ),
    "error-builder-minimum": (
        "Choose the column whose least value is wanted.",
        "Elija la columna cuyo menor valor se busca.",
    ),
    "error-builder-maximum": (
        "Choose the column whose largest value is wanted.",
        "Elija la columna cuyo mayor valor se busca.",
    ),
    "error-builder-value-text": ("Write the value to compare with.", "Escriba el valor con que se compara."),
    "error-builder-value-integer": ("Write a whole number, such as 42.", "Escriba un número entero, como 42."),
    "error-builder-value-real": ("Write a number with a point, such as 3.5.", "Escriba un número con punto, como 3.5."),
    "error-builder-value-boolean": ("Write true or false.", "Escriba true o false."),
    "error-builder-value-date": ("Write year, month, day: 2025-12-31.", "Escriba año, mes y día: 2025-12-31."),
    "error-builder-value-timestamp": (
        "Write date and time: 2025-12-31 18:30:00.",
        "Escriba fecha y hora: 2025-12-31 18:30:00.",
    ),
    "error-reason-needed": (
        "An epsilon this large needs a reason. Nothing was paid. Say why in the field above.",
        "Un épsilon tan grande necesita un motivo. No se pagó nada. Diga por qué en el campo de arriba.",
    ),
    "error-column-names": (
        "Two columns would have one name, or a name is too long. Give each another, shorter one.",
        "Dos columnas tendrían el mismo nombre, o un nombre es demasiado largo. Dé a cada una otro, más corto.",
    ),
    "error-override-needed": (
        "An epsilon of 10 or more promises next to nothing. Nothing was paid. Ask with less; or allow it under “More choices”.",
        "Un épsilon de 10 o más casi no promete nada. No se pagó nada. Pregunte con menos, o permítalo en «Más opciones».",
    ),
    "error-undeclared-value": (
        "{place}{column} has no declared value “{value}”, so probably no row has it. Nothing was paid. Correct it, or use the button that asks anyway, where there is one.",
        "{place}{column} no tiene declarado el valor «{value}», así que probablemente ninguna fila lo tenga. No se pagó nada. Corríjalo, o use el botón que pregunta de todos modos, donde lo haya.",
    ),
    "error-undeclared-near": (
        "{place}{column} has no declared value “{value}”; did you mean “{near}”? Nothing was paid. Correct it, or use the button that asks anyway, where there is one.",
        "{place}{column} no tiene declarado el valor «{value}»; ¿quiso decir «{near}»? No se pagó nada. Corríjalo, o use el botón que pregunta de todos modos, donde lo haya.",
    ),
    "error-undeclared-range": (
        "{place}By what is declared, {column} is {range}, so no row has {value}. Nothing was paid. Correct it, or use the button that asks anyway, where there is one.",
        "{place}Según lo declarado, {column} es {range}, así que ninguna fila tiene {value}. No se pagó nada. Corríjalo, o use el botón que pregunta de todos modos, donde lo haya.",
    ),
    "error-budget-exceeded": (
        "The budget does not cover this ({scope}): it costs {asked}, and {remaining} remains. Nothing was paid. Ask with less, or ask whoever gave the budget for more.",
        "El presupuesto no alcanza ({scope}): cuesta {asked} y queda {remaining}. No se pagó nada. Pregunte con menos, o pida más a quien dio el presupuesto.",
    ),
    "error-budget-closed": (
        "The budget of {scope} was closed. Nothing was paid. Ask the curator for another.",
        "El presupuesto de {scope} fue cerrado. No se pagó nada. Pida otro al curador.",
    ),
    "error-budget-expired": (
        "The budget of {scope} has ended. Nothing was paid. Ask the curator for another.",
        "El presupuesto de {scope} ya terminó. No se pagó nada. Pida otro al curador.",
    ),
    "error-no-such-column": (
        "There is no column {column}. There is: {known}. A text stands in single quotes: 'Lugo'.",
        "No hay una columna {column}. Hay: {known}. Un texto va entre comillas simples: 'Lugo'.",
    ),
    "error-no-such-table": ("There is no table {table}. There is: {known}.", "No hay una tabla {table}. Hay: {known}."),
    "error-shows-rows": (
        "This would show rows, and an answer never does. Measure something: COUNT(*), SUM, AVG, MEDIAN of a column, in all or for each group (GROUP BY).",
        "Esto mostraría filas, y una respuesta nunca lo hace. Mida algo: COUNT(*), SUM, AVG, MEDIAN de una columna, en total o por cada grupo (GROUP BY).",
    ),
    "error-no-select": (
        "A question is one SELECT statement. Choose what to ask, and see how it is written.",
        "Una pregunta es una sola sentencia SELECT. Elija qué preguntar y vea cómo se escribe.",
    ),
    "error-only-reads": (
        "{word} would change something: questions only read. Write SELECT.",
        "{word} cambiaría algo: las preguntas solo leen. Escriba SELECT.",
    ),
    "error-not-sql": (
        "This cannot be read as SQL. Look for an open quote, or a word too many.",
        "Esto no se puede leer como SQL. Busque una comilla abierta o una palabra de más.",
    ),
    "error-brackets-open": (
        "Brackets are opened and not closed, or closed and not opened.",
        "Hay paréntesis abiertos sin cerrar, o cerrados sin abrir.",
    ),
    "error-no-bounds": (
        "The column {column} has no declared bounds, and without them noise cannot hide one person. The curator declares them (from a codebook, never from the data); or ask for BOUNDS({column}), a question of its own.",
        "La columna {column} no tiene límites declarados, y sin ellos el ruido no puede ocultar a una persona. El curador los declara (de un libro de códigos, nunca de los datos); o pregunte BOUNDS({column}), que es una pregunta aparte.",
    ),
    "error-contribution-needed": (
        "The table does not say how much one person counts: in how many groups, and with how many rows. The curator declares it with the table, as its contribution.",
        "La tabla no dice cuánto cuenta una misma persona: en cuántos grupos y con cuántas filas. El curador lo declara con la tabla, como su contribución.",
    ),
    "error-unreadable-sql": (
        "This cannot be read as SQL, near “{word}” (line {line}, column {column}).",
        "Esto no se puede leer como SQL, cerca de «{word}» (línea {line}, columna {column}).",
    ),
    "error-no-parquet": (
        "The server cannot write Parquet. Take CSV or JSON.",
        "El servidor no puede escribir Parquet. Use CSV o JSON.",
    ),
    "error-unavailable": (
        "What keeps the charges or the reports is not available now. Try again later; if it stays so, tell the curator. A charge that was already written stays spent.",
        "Lo que guarda los cargos o los informes no está disponible ahora. Inténtelo más tarde; si sigue así, avise al curador. Un cargo ya escrito queda gastado.",
    ),
    "error-server-failed": (
        "The server could not do this. Look at what you have spent before you pay again: what was charged stays charged.",
        "El servidor no pudo hacerlo. Mire lo que ha gastado antes de pagar otra vez: lo cobrado queda cobrado.",
    ),
    "error-amount": (
        "This is no amount above 0. Write a decimal or a fraction, and no sign such as %: 0.5, 1/10, 1000.",
        "Esto no es una cantidad mayor que 0. Escriba un decimal o una fracción, sin signos como %: 0.5, 1/10, 1000.",
    ),
    "error-number-unclear": (
        "Is {text} meant as {one} or as {other}? Write one of these.",
        "¿{text} quiere decir {one} o {other}? Escriba uno de estos.",
    ),
    "error-no-reason": (
        "A decision needs a reason: it is kept in the ledger. Say it in a few words.",
        "Una decisión necesita un motivo: queda en el registro. Dígalo en pocas palabras.",
    ),
    "error-not-sure": (
        "This cannot be undone. Tick the box if you mean it.",
        "Esto no se puede deshacer. Marque la casilla si está seguro.",
    ),
    "error-analyst-exists": (
        "There is a budget of this name already. Open its page to raise it.",
        "Ya hay un presupuesto con este nombre. Abra su página para subirlo.",
    ),
    "error-raised-since": (
        "This budget was changed since the page was opened, perhaps by this very form. Nothing was done now; look at it again.",
        "Este presupuesto cambió desde que se abrió la página, quizá por este mismo formulario. Ahora no se hizo nada; mírelo de nuevo.",
    ),
    "error-not-a-date": ("This is not a day. Write it as 2026-12-31.", "Esto no es un día. Escríbalo como 2026-12-31."),
    "error-filter-who": (
        "Nobody of this name has a budget. Choose a name of the list.",
        "Nadie con este nombre tiene presupuesto. Elija un nombre de la lista.",
    ),
    "error-filter-table": ("No private table has this name.", "Ninguna tabla privada tiene este nombre."),
    "error-filter-since": (
        "This is not a day. Write it as 2026-12-31.",
        "Esto no es un día. Escríbalo como 2026-12-31.",
    ),
    "error-filter-until": (
        "This is not a day. Write it as 2026-12-31.",
        "Esto no es un día. Escríbalo como 2026-12-31.",
    ),
    "error-model-model": ("Choose a model.", "Elija un modelo."),
    "error-model-features": (
        "Nothing is chosen to learn from. Tick at least one column.",
        "No se ha elegido de qué aprender. Marque al menos una columna.",
    ),
    "error-model-label": (
        "This column is predicted and learned from. Choose another one, or take its tick away.",
        "Esta columna se predice y además se aprende de ella. Elija otra o quítele la marca.",
    ),
    "error-model-label-keys": (
        "This kind of model predicts one of several: choose a column with keys.",
        "Este tipo de modelo predice uno de varios: elija una columna con claves.",
    ),
    "error-model-label-number": (
        "This kind of model predicts a number: choose a column with bounds.",
        "Este tipo de modelo predice un número: elija una columna con límites.",
    ),
    "error-model-delta": (
        "This model needs a delta. Write one, such as 1e-6; or choose a model that does without.",
        "Este modelo necesita un delta. Escriba uno, como 1e-6, o elija un modelo que no lo necesite.",
    ),
    "error-model-whole": (
        "Write a whole number from 1 on, or leave it empty.",
        "Escriba un número entero desde 1 o déjelo vacío.",
    ),
    "error-model-value": (
        "This is not a value of the column. Write a number, or leave it empty.",
        "Esto no es un valor de la columna. Escriba un número o déjelo vacío.",
    ),
    "error-upload-name": (
        "This is not a CSV or Parquet file. Choose one that ends in .csv, .csv.gz or .parquet.",
        "Esto no es un archivo CSV o Parquet. Elija uno que termine en .csv, .csv.gz o .parquet.",
    ),
    "error-no-such-private-table": (
        "There is no private table of this name any more. Choose one on the page of tables.",
        "Ya no hay una tabla privada con este nombre. Elija una en la página de tablas.",
    ),
    "error-study-changed": (
        "The study file was changed meanwhile, by somebody else or by hand. Open the page again.",
        "El archivo del estudio cambió entretanto, por otra persona o a mano. Abra la página de nuevo.",
    ),
    "error-upload-there": (
        "A file of this name is there already, and is not replaced. Give the file another name; or go on with the one that is there: choose it below.",
        "Ya hay un archivo con este nombre, y no se reemplaza. Dé otro nombre al archivo, o siga con el que está: elíjalo abajo.",
    ),
    "error-upload-empty": ("The file is empty. Choose another one.", "El archivo está vacío. Elija otro."),
    "error-upload-unwritable": (
        "The server cannot write the file: look at its folder's rights and the space on its disk. Nothing was kept.",
        "El servidor no puede escribir el archivo: mire los permisos de su carpeta y el espacio en su disco. No se guardó nada.",
    ),
    "missing-file": (
        "The file of the table {table} is not there. Questions about {table} are refused and cost nothing; all other tables can be asked.",
        "El archivo de la tabla {table} no está. Las preguntas sobre {table} se rechazan y no cuestan nada; todas las demás tablas se pueden preguntar.",
    ),
    "missing-mend": (
        "Put it back at {path}: it is found again by itself. Or take the table out of the study file; what was spent stays spent.",
        "Póngalo de nuevo en {path}: se encuentra solo. O quite la tabla del archivo del estudio; lo gastado queda gastado.",
    ),
    "missing-told": ("The curator of the study can put it back.", "El curador del estudio puede ponerlo de nuevo."),
    "cost-nothing": ("nothing", "nada"),
    "error-csv-names-needed": (
        "A file without a header needs the names of its columns: write all of them here, in their order, between commas.",
        "Un archivo sin encabezado necesita los nombres de sus columnas: escríbalos todos aquí, en su orden, entre comas.",
    ),
    "error-csv-encoding": (
        "The file is not written in these letters. Choose the other: Latin-1 is that of many files of older spreadsheets.",
        "El archivo no está escrito con estas letras. Elija las otras: Latin-1 es la de muchos archivos de hojas de cálculo antiguas.",
    ),
    "error-csv-header": (
        "The first line does not name the columns, each once. Choose another separator, or say that it is a row already.",
        "La primera línea no nombra las columnas, cada una una vez. Elija otro separador, o diga que ya es una fila.",
    ),
    "error-header-like-values": (
        "The first line looks like values, not like names. If it is a row, choose “is a row already” and write the names of the columns.",
        "La primera línea parece tener valores y no nombres. Si es una fila, elija «ya es una fila» y escriba los nombres de las columnas.",
    ),
    "error-csv-delimiter": (
        "The first line has “{seen}” in it and is not split by “{stated}”: choose “{seen}” here.",
        "La primera línea tiene «{seen}» y no se separa por «{stated}»: elija aquí «{seen}».",
    ),
    "error-csv-spaces": (
        "Names in the first line have spaces around them, so values may have them, too. Choose to drop them here.",
        "Los nombres de la primera línea tienen espacios alrededor, y los valores también pueden tenerlos. Elija quitarlos aquí.",
    ),
    "error-bounds-empty": (
        "The lowest, {low}, is above the highest, {high}. Swap them.",
        "El mínimo, {low}, es mayor que el máximo, {high}. Cámbielos de lugar.",
    ),
    "error-board-of": ("Choose what is measured, and of what.", "Elija qué se mide, y de qué."),
    "error-board-by": (
        "The groups are of another table. Choose a column of {table}.",
        "Los grupos son de otra tabla. Elija una columna de {table}.",
    ),
    "error-name-twice": (
        "Two questions are called {name}. Give one of them another short name.",
        "Dos preguntas se llaman {name}. Dé a una de ellas otro nombre corto.",
    ),
    "error-file-missing": (
        "The rows of {table} are not there: there is no file {file}. The curator can put it back; other tables can be asked. This cost nothing.",
        "Las filas de {table} no están: no hay un archivo {file}. El curador puede ponerlo de nuevo; las demás tablas se pueden preguntar. Esto no costó nada.",
    ),
    "error-file-back": (
        "The file of {table} was not there when the study was opened, and is now. Ask again. This cost nothing.",
        "El archivo de {table} no estaba cuando se abrió el estudio, y ahora está. Pregunte de nuevo. Esto no costó nada.",
    ),
    "error-too-large": (
        "This is larger than the server takes. Nothing was kept.",
        "Esto es más grande de lo que acepta el servidor. No se guardó nada.",
    ),
}
