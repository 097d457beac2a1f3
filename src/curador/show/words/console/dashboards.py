"""Dashboards: several questions for one charge."""

TEXTS = {
    "title": ("Dashboards", "Tableros"),
    "lead": (
        "Several questions, answered together for one charge. Give each a weight, or the error that it needs.",
        "Varias preguntas, respondidas juntas por un solo cargo. Dé a cada una un peso, o el error que necesita.",
    ),
    "place": ("Question {n}", "Pregunta {n}"),
    "name": ("Short name", "Nombre corto"),
    "weight": ("Weight: its part of the budget", "Peso: su parte del presupuesto"),
    "error": ("Or the error it needs (±)", "O el error que necesita (±)"),
    "budget": ("Budget of all together", "Presupuesto de todas juntas"),
    "epsilon": ("Epsilon of the whole", "Épsilon del conjunto"),
    "epsilon-hint": (
        "Questions with a wanted error take what they need; the rest is split by weight.",
        "Las preguntas con un error deseado toman lo que necesitan; el resto se reparte por peso.",
    ),
    "whole": ("All together cost", "Todas juntas cuestan"),
    "question": ("Question", "Pregunta"),
    "own": ("Its part", "Su parte"),
    "errors": ("Expected error", "Error esperado"),
    "pay": ("Publish and pay", "Publicar y pagar"),
    "try": ("Try it on made-up rows", "Probarlo con filas inventadas"),
    "more": ("Add a question", "Agregar una pregunta"),
    "pay-hint": (
        "All are answered, or none. What is paid cannot be taken back; the same dashboard again is free.",
        "Se responden todas o ninguna. Lo pagado no se puede deshacer; el mismo tablero otra vez es gratis.",
    ),
    "rehearsal": ("What it looks like", "Cómo se ve"),
}
