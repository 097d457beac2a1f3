"""Audit: mechanisms tested as black boxes."""

TEXTS = {
    "title": ("Audit", "Auditoría"),
    "lead": (
        "Run a mechanism of this server many times on two neighbours, and look for an output that gives one away more than is claimed. No data is read and nothing is spent.",
        "Ejecute muchas veces un mecanismo de este servidor sobre dos vecinos y busque una salida que delate a uno más de lo declarado. No se leen datos ni se gasta nada.",
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
    "found": ("The audits of a day", "Las auditorías de un día"),
    "one": ("What the audit found", "Lo que halló la auditoría"),
    "nothing-yet": ("Nothing was tested yet.", "Todavía no se ha probado nada."),
    "none": (
        "No violation found with n = {n} runs; epsilon is at least {floor}.",
        "No se halló violación con n = {n} ejecuciones; épsilon es al menos {floor}.",
    ),
    "violated": (
        "Violated: with n = {n} runs epsilon is at least {floor}, more than is claimed.",
        "Violado: con n = {n} ejecuciones épsilon es al menos {floor}, más de lo declarado.",
    ),
    "means": (
        "A test can show that a claim is wrong, never that it is right.",
        "Una prueba puede mostrar que una promesa es falsa, nunca que es cierta.",
    ),
    "running": ("The mechanism is being run…", "El mecanismo se está ejecutando…"),
    "look-again": ("Look again", "Mirar de nuevo"),
    "cancelled": ("It was cancelled before it began.", "Se canceló antes de comenzar."),
    "ledger": ("Verify the ledger", "Verificar el registro"),
}
