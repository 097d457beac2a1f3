"""Dashboards: several questions for one charge."""

TEXTS = {
    "title": ("Dashboards", "Tableros"),
    "lead": (
        "Several questions, answered together for one charge. Give each a share of the budget, or the error that it may have.",
        "Varias preguntas, respondidas juntas por un solo cargo. Dé a cada una una parte del presupuesto, o el error que puede tener.",
    ),
    "choose": ("Choose the question instead of writing SQL", "Elegir la pregunta en vez de escribir SQL"),
    "of": ("Of", "De"),
    "rows-of": ("all rows of {table}", "todas las filas de {table}"),
    "by": ("For each value of", "Por cada valor de"),
    "write": ("Put it into the question", "Ponerlo en la pregunta"),
    "place": ("Question {n}", "Pregunta {n}"),
    "title-of": ("Title of the dashboard", "Título del tablero"),
    "title-hint": (
        "For readers: it stands above the publication and its report. It may be left empty.",
        "Para quienes leen: encabeza la publicación y su informe. Puede quedar vacío.",
    ),
    "question-title": ("Title for readers", "Título para quienes leen"),
    "name": ("Short name", "Nombre corto"),
    "name-hint": ("For files and code.", "Para archivos y código."),
    "weight": ("Its share of the budget", "Su parte del presupuesto"),
    "weight-hint": (
        "Shares count in proportion and need not sum to 100: 30 and 10 give the first three quarters. What you type stays as you typed it.",
        "Las partes cuentan en proporción y no tienen que sumar 100: 30 y 10 dan a la primera tres cuartos. Lo que usted escribe queda como lo escribió.",
    ),
    "split": ("How the budget is split", "Cómo se reparte el presupuesto"),
    "split-hint": (
        "Drag a border, or focus it and use the arrow keys: what one question gains, its neighbour loses.",
        "Arrastre un borde, o enfóquelo y use las flechas: lo que gana una pregunta lo pierde su vecina.",
    ),
    "border": ("Border between {a} and {b}", "Borde entre {a} y {b}"),
    "error": ("Or instead: the largest error it may have (±)", "O en su lugar: el mayor error que puede tener (±)"),
    "budget": ("Budget of all together", "Presupuesto de todas juntas"),
    "epsilon": ("Epsilon of the whole", "Épsilon del conjunto"),
    "epsilon-hint": (
        "Questions with a largest error take what they need of it; the rest is split by shares. If all have one, it is not used.",
        "Las preguntas con un error máximo toman de él lo que necesitan; el resto se reparte por partes. Si todas lo tienen, no se usa.",
    ),
    "whole": ("All together cost", "Todas juntas cuestan"),
    "question": ("Question", "Pregunta"),
    "own": ("Its part", "Su parte"),
    "errors": ("Expected error", "Error esperado"),
    "pay": ("Answer all and pay", "Responder todas y pagar"),
    "error-error-needs-rows": (
        "How wrong {output} will be depends on how many rows are behind it, and that is not public. Leave its largest error empty, and give it a share of the budget.",
        "Cuánto errará {output} depende de cuántas filas hay detrás, y eso no es público. Deje vacío su error máximo y dele una parte del presupuesto.",
    ),
    "pay-cost": ("Answer all and pay {cost}", "Responder todas y pagar {cost}"),
    "try": ("Try it on made-up rows", "Probarlo con filas inventadas"),
    "more": ("Add a question", "Añadir una pregunta"),
    "pay-hint": (
        "All are answered, or none. What is paid cannot be taken back; the same dashboard again is free. Nobody else sees it until a public link is made on its page.",
        "Se responden todas o ninguna. Lo pagado no se puede deshacer; el mismo tablero otra vez es gratis. Nadie más lo ve hasta que se cree un enlace público en su página.",
    ),
    "rehearsal": ("What it looks like", "Cómo se ve"),
}
