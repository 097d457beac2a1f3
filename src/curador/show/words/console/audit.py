"""Audit: mechanisms tested as black boxes."""

TEXTS = {
    "title": ("Audit", "Auditoría"),
    "lead": (
        "Does the noise keep what it claims? A mechanism of this server is run many times on two neighbours, in search of an output that gives one away more than is claimed. No data is read and nothing is spent.",
        "¿Cumple el ruido lo que declara? Un mecanismo de este servidor se ejecuta muchas veces sobre dos vecinos, en busca de una salida que delate a uno más de lo declarado. No se leen datos ni se gasta nada.",
    ),
    "test": ("Test a mechanism", "Probar un mecanismo"),
    "kind": ("Mechanism", "Mecanismo"),
    "epsilon": ("Claimed epsilon", "Épsilon declarado"),
    "delta": ("Claimed delta", "Delta declarado"),
    "delta-hint": (
        "For mechanisms that need one; empty is 1/100.",
        "Para los mecanismos que lo necesitan; vacío es 1/100.",
    ),
    "runs": ("Runs", "Ejecuciones"),
    "runs-hint": (
        "More runs find smaller violations, and take longer.",
        "Más ejecuciones hallan violaciones menores, y tardan más.",
    ),
    "button": ("Begin", "Comenzar"),
    "found": ("Tests of the last day", "Pruebas del último día"),
    "one": ("What the audit found", "Lo que halló la auditoría"),
    "nothing-yet": ("Nothing was tested yet.", "Todavía no se ha probado nada."),
    "none": (
        "No violation was found in n = {n} runs. Claimed is {claim}; the runs show a loss of at least {floor}, which is no more.",
        "No se halló violación en n = {n} ejecuciones. Se declara {claim}; las ejecuciones muestran una pérdida de al menos {floor}, que no es más.",
    ),
    "violated": (
        "Violated: claimed is {claim}, and n = {n} runs show a loss of at least {floor}.",
        "Violado: se declara {claim}, y n = {n} ejecuciones muestran una pérdida de al menos {floor}.",
    ),
    "means": (
        "A test can show that a claim is wrong, never that it is right.",
        "Una prueba puede mostrar que una promesa es falsa, nunca que es cierta.",
    ),
    "running": ("The mechanism is being run…", "El mecanismo se está ejecutando…"),
    "look-again": ("Look again", "Mirar de nuevo"),
    "cancelled": ("It was cancelled before it began.", "Se canceló antes de comenzar."),
    "ledger": ("To the ledger", "Al registro"),
    "who": ("Who asked what, and when, is in the ledger.", "Quién preguntó qué, y cuándo, está en el registro."),
    "words": ("As the tester says it", "En palabras de la prueba, en inglés"),
    # -- mechanisms
    "of-exponential": ("Choosing the best (exponential mechanism)", "Elegir lo mejor (mecanismo exponencial)"),
    "of-exponential-quantiles": ("Quantiles (exponential mechanism)", "Cuantiles (mecanismo exponencial)"),
    "of-exponential-top-k": (
        "Choosing the best two (exponential mechanism)",
        "Elegir los dos mejores (mecanismo exponencial)",
    ),
    "of-gaussian": ("Gaussian noise", "Ruido gaussiano"),
    "of-integer-gaussian": ("Gaussian noise on whole numbers", "Ruido gaussiano en números enteros"),
    "of-integer-laplace": ("Laplace noise on whole numbers (counts)", "Ruido de Laplace en números enteros (conteos)"),
    "of-laplace": ("Laplace noise", "Ruido de Laplace"),
    "of-optimal-keys": ("Which groups are shown (optimal)", "Qué grupos se muestran (óptimo)"),
    "of-permute-and-flip": ("Choosing the best (permute and flip)", "Elegir lo mejor (permutar y lanzar)"),
    "of-randomized-response": ("Randomized response", "Respuesta aleatorizada"),
    "of-report-noisy-max": ("Choosing the best (noisy maximum)", "Elegir lo mejor (máximo con ruido)"),
    "of-sparse-vector": ("First above a threshold (sparse vector)", "Primero sobre un umbral (vector disperso)"),
    "of-thresholded-gaussian": ("Which groups are shown (Gaussian noise)", "Qué grupos se muestran (ruido gaussiano)"),
    "of-thresholded-laplace": ("Which groups are shown (Laplace noise)", "Qué grupos se muestran (ruido de Laplace)"),
    "of-tree-gaussian": ("Running counts (Gaussian noise)", "Conteos continuos (ruido gaussiano)"),
    "of-tree-laplace": ("Running counts (Laplace noise)", "Conteos continuos (ruido de Laplace)"),
}
