"""Collect: local tasks and what devices report."""

TEXTS = {
    "title": ("Collect", "Recolectar"),
    "lead": (
        "Ask people who trust nobody: each device adds noise before it sends anything, and only estimates over many come out.",
        "Pregunte a quienes no confían en nadie: cada dispositivo añade ruido antes de enviar algo, y solo salen estimaciones sobre muchos.",
    ),
    "tasks": ("Tasks", "Tareas"),
    "none-yet": (
        "No task is collected yet. Make one below; its page has the program that devices run.",
        "Todavía no se recolecta ninguna tarea. Cree una abajo; su página tiene el programa para los dispositivos.",
    ),
    "name": ("Name", "Nombre"),
    "name-hint": (
        "Part of the address that devices send to, and of the task: another name is another task.",
        "Parte de la dirección a la que envían los dispositivos, y de la tarea: otro nombre es otra tarea.",
    ),
    "mechanism": ("Kind of answer", "Tipo de respuesta"),
    "mechanism-hint": (
        "You ask the question on your own page or app. Choose here what kind of answer people give.",
        "La pregunta la hace usted en su propia página o aplicación. Elija aquí qué tipo de respuesta se da.",
    ),
    "by-yes-no": ("yes or no", "sí o no"),
    "yes": ("yes", "sí"),
    "no": ("no", "no"),
    "by-best": (
        "one of several: the best way for so many people",
        "una de varias: lo mejor para tantas personas",
    ),
    "by-krr": (
        "one of several: randomized response (krr)",
        "una de varias: respuesta aleatorizada (krr)",
    ),
    "by-oue": ("one of several: unary encoding (oue)", "una de varias: codificación unaria (oue)"),
    "by-olh": ("one of several: local hashing (olh)", "una de varias: hash local (olh)"),
    "by-hadamard": ("one of several: Hadamard response", "una de varias: respuesta de Hadamard"),
    "by-subset": ("one of several: subset selection", "una de varias: selección de subconjuntos"),
    "by-hybrid": ("a number: its mean (hybrid)", "un número: su media (híbrido)"),
    "by-piecewise": ("a number: its mean (piecewise)", "un número: su media (por tramos)"),
    "by-duchi": ("a number: its mean (Duchi)", "un número: su media (Duchi)"),
    "by-square-wave": ("a number: its distribution (square wave)", "un número: su distribución (onda cuadrada)"),
    "epsilon": ("Epsilon of one report", "Épsilon de un informe"),
    "epsilon-hint": (
        "What one report may cost its sender. Too large promises nothing; too small needs very many people.",
        "Lo que un informe puede costar a quien lo envía. Demasiado grande no promete nada; demasiado pequeño necesita muchísima gente.",
    ),
    "users": ("How many people", "Cuántas personas"),
    "users-hint": (
        "About how many will report: says how far estimates will be off, and chooses the best mechanism.",
        "Cuántas responderán, aproximadamente: dice cuánto errarán las estimaciones y elige el mejor mecanismo.",
    ),
    "keys": ("Possible answers", "Respuestas posibles"),
    "keys-hint": (
        "One a line, or between commas: at least two. Public, and complete: an answer that is missing here cannot be given.",
        "Una por línea o entre comas: al menos dos. Públicas y completas: una respuesta que falte aquí no se puede dar.",
    ),
    "low": ("Lowest", "Mínimo"),
    "high": ("Highest", "Máximo"),
    "bounds-hint": (
        "Public, chosen before anybody answers: too narrow cuts values off, too wide makes estimates coarse.",
        "Públicos, elegidos antes de que alguien responda: muy estrechos cortan valores, muy anchos dan estimaciones gruesas.",
    ),
    "expected": (
        "From {users} people every estimate will be within {error}, with 95 % confidence.",
        "Con {users} personas cada estimación estará dentro de {error}, con 95 % de confianza.",
    ),
    "points": ("± {points} percentage points", "± {points} puntos porcentuales"),
    "chosen": (
        "Kind of answer: {mechanism}. A report has {bytes} bytes.",
        "Tipo de respuesta: {mechanism}. Un informe ocupa {bytes} bytes.",
    ),
    "chosen-byte": (
        "Kind of answer: {mechanism}. A report has {bytes} byte.",
        "Tipo de respuesta: {mechanism}. Un informe ocupa {bytes} byte.",
    ),
    "make-means": (
        "It takes reports at once, and is never changed afterwards: people who have answered were promised this one. It is kept in a folder next to the study file. (Whoever runs several server processes restarts them, so that all take reports.)",
        "Recibe informes de inmediato y nunca cambia después: a quienes respondieron se les prometió esta. Se guarda en una carpeta junto al archivo del estudio. (Quien ejecute varios procesos del servidor los reinicia, para que todos reciban informes.)",
    ),
    "new": ("Make a task", "Crear una tarea"),
    "plan-button": ("How exact would it be?", "¿Qué tan exacta sería?"),
    "make-button": ("Make it and take reports", "Crear y recibir informes"),
    # -- one task
    "estimate": ("What they say so far", "Lo que dicen hasta ahora"),
    "reports": ("Reports", "Informes"),
    "refused": ("Refused", "Rechazados"),
    "within": ("All within", "Todo dentro de"),
    "no-reports": (
        "No report has come yet. Run the program below on a device; this page looks again by itself.",
        "Todavía no llega ningún informe. Ejecute el programa de abajo en un dispositivo; esta página se actualiza sola.",
    ),
    "candidates": (
        "This task is asked about candidates: use curador local estimate.",
        "Esta tarea se consulta con candidatos: use curador local estimate.",
    ),
    "chart": ("Estimates with their intervals", "Estimaciones con sus intervalos"),
    "value": ("value", "valor"),
    "share": ("share", "proporción"),
    "interval-means": (
        "All intervals together hold with {percent} % confidence. Looking is free: the noise was added on the devices.",
        "Todos los intervalos juntos valen con {percent} % de confianza. Mirar es gratis: el ruido se añadió en los dispositivos.",
    ),
    "later": (
        "With ten times as many reports they would be about {error}.",
        "Con diez veces más informes serían cerca de {error}.",
    ),
    "devices": ("What devices run", "Lo que ejecutan los dispositivos"),
    "devices-lead": (
        "Give these lines to whoever makes your web page or app: there the question is asked. One file without dependencies checks the task, adds the noise and makes the report. Nothing else leaves the device; nobody is asked who they are.",
        "Dé estas líneas a quien haga su página web o aplicación: allí se hace la pregunta. Un solo archivo sin dependencias comprueba la tarea, añade el ruido y hace el informe. Nada más sale del dispositivo; a nadie se le pregunta quién es.",
    ),
    "developer": ("What a developer has to do", "Lo que tiene que hacer quien programa"),
    "developer-page": (
        "There is no ready page for your people here: somebody makes one, or a form in an app, with the question in your words and a button that runs the lines below with the answer.",
        "Aquí no hay una página lista para su gente: alguien hace una, o un formulario en una aplicación, con la pregunta en sus palabras y un botón que ejecuta las líneas de abajo con la respuesta.",
    ),
    "developer-origin": (
        "A web page sends from another address than this one, and browsers allow that only to addresses that the study names. In the study file, below [server]: {line} with the page's own address; then restart the server.",
        "Una página web envía desde otra dirección que esta, y los navegadores solo lo permiten a direcciones que el estudio nombra. En el archivo del estudio, bajo [server]: {line} con la dirección de la página; luego reinicie el servidor.",
    ),
    "developer-origins": ("Pages that may send now: {origins}.", "Páginas que ahora pueden enviar: {origins}."),
    "developer-no-origins": (
        "No web page may send now: from one, “Failed to fetch” is all that is seen. Programs and apps may.",
        "Ahora ninguna página web puede enviar: desde una solo se ve «Failed to fetch». Los programas y aplicaciones sí pueden.",
    ),
    # -- refusals
    "error-task-name": (
        "The name is part of an address: a to z, 0 to 9 and -, at most 40 of them.",
        "El nombre es parte de una dirección: de la a a la z, de 0 a 9 y -, a lo sumo 40.",
    ),
    "error-task-name-taken": ("There is a task of this name already.", "Ya hay una tarea con este nombre."),
    "error-task-mechanism": ("Choose one of the list.", "Elija uno de la lista."),
    "error-task-users": ("Write a number of people in digits.", "Escriba un número de personas en dígitos."),
    "error-task-users-needed": (
        "Which way is best depends on how many people report. Say about how many.",
        "Cuál es el mejor modo depende de cuántas personas responden. Diga cuántas, más o menos.",
    ),
    "error-task-keys": (
        "Write at least two possible answers, one a line.",
        "Escriba al menos dos respuestas posibles, una por línea.",
    ),
    "error-task-keys-twice": (
        "An answer stands here twice. Write each once.",
        "Una respuesta está dos veces. Escriba cada una una vez.",
    ),
    "error-task-keys-many": (
        "These are too many for a form. On the command line curador local new-task takes them from a file.",
        "Son demasiadas para un formulario. En la línea de comandos, curador local new-task las toma de un archivo.",
    ),
    "error-task-low": (
        "Write the lowest number that can be told, with a point: 0, 2.5.",
        "Escriba el menor número que se puede decir, con punto: 0, 2.5.",
    ),
    "error-task-low-above": (
        "The lowest must be below the highest. Swap them?",
        "El mínimo debe estar por debajo del máximo. ¿Están al revés?",
    ),
    "error-task-high": (
        "Write the highest number that can be told, with a point: 10, 99.5.",
        "Escriba el mayor número que se puede decir, con punto: 10, 99.5.",
    ),
}
