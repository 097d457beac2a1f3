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
    "mechanism": ("Mechanism", "Mecanismo"),
    "mechanism-hint": (
        "For one of several answers take the best; for a number, the mean or the whole distribution.",
        "Para una de varias respuestas tome el mejor; para un número, la media o la distribución entera.",
    ),
    "by-best": ("answers: the best for so many people", "respuestas: el mejor para tantas personas"),
    "by-krr": ("answers: randomized response (krr)", "respuestas: respuesta aleatorizada (krr)"),
    "by-oue": ("answers: unary encoding (oue)", "respuestas: codificación unaria (oue)"),
    "by-olh": ("answers: local hashing (olh)", "respuestas: hash local (olh)"),
    "by-hadamard": ("answers: Hadamard response", "respuestas: respuesta de Hadamard"),
    "by-subset": ("answers: subset selection", "respuestas: selección de subconjuntos"),
    "by-hybrid": ("a number: mean (hybrid)", "un número: media (hybrid)"),
    "by-piecewise": ("a number: mean (piecewise)", "un número: media (piecewise)"),
    "by-duchi": ("a number: mean (Duchi)", "un número: media (Duchi)"),
    "by-square-wave": ("a number: its distribution (square wave)", "un número: su distribución (onda cuadrada)"),
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
        "One a line, or between commas. Public, and complete: an answer that is missing here cannot be given. Empty for a number.",
        "Una por línea o entre comas. Públicas y completas: una respuesta que falte aquí no se puede dar. Vacío para un número.",
    ),
    "low": ("Lowest", "Mínimo"),
    "high": ("Highest", "Máximo"),
    "bounds-hint": (
        "For a number. Public, chosen before anybody answers: too narrow cuts values off, too wide makes estimates coarse.",
        "Para un número. Públicos, elegidos antes de que alguien responda: muy estrechos cortan valores, muy anchos dan estimaciones gruesas.",
    ),
    "expected": (
        "From {users} people every estimate will be within ± {error}, with 95 % confidence.",
        "Con {users} personas cada estimación estará dentro de ± {error}, con 95 % de confianza.",
    ),
    "chosen": (
        "Mechanism: {mechanism}; a report has {bytes} bytes.",
        "Mecanismo: {mechanism}; un informe ocupa {bytes} bytes.",
    ),
    "make-means": (
        "Making it writes a folder next to the study, names it in the study file and takes reports at once. A task is never changed afterwards: people who have answered were promised this one. If several processes serve this study, restart the server so that all of them take reports.",
        "Al crearla se escribe una carpeta junto al estudio, se la nombra en el archivo del estudio y se reciben informes de inmediato. Una tarea nunca cambia después: a quienes respondieron se les prometió esta. Si varios procesos sirven este estudio, reinicie el servidor para que todos reciban informes.",
    ),
    "new": ("Make a task", "Crear una tarea"),
    "plan-button": ("What would it tell?", "¿Qué diría?"),
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
        "With ten times as many reports they would be about ± {error}.",
        "Con diez veces más informes serían cerca de ± {error}.",
    ),
    "devices": ("What devices run", "Lo que ejecutan los dispositivos"),
    "devices-lead": (
        "One file without dependencies checks the task, adds the noise and makes the report. Nothing else leaves the device; nobody is asked who they are.",
        "Un solo archivo sin dependencias comprueba la tarea, añade el ruido y hace el informe. Nada más sale del dispositivo; a nadie se le pregunta quién es.",
    ),
}
