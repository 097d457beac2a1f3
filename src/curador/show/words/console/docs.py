"""The page of the HTTP interface; what its routes do is said in English, as programs read it."""

TEXTS = {
    "title": ("The HTTP interface", "La interfaz HTTP"),
    "lead": ("For programs the same is at", "Para los programas, lo mismo está (en inglés) en"),
    "for": ("For", "Para"),
    "answers": ("Answers with", "Responde con"),
    "answered": ("What is answered", "Lo que se responde"),
    "same": ("The fields are those of", "Los campos son los de"),
    "field": ("Field", "Campo"),
    "kind": ("Type", "Tipo"),
    "default": ("Default", "Por omisión"),
    "when": ("When", "Cuándo"),
    "means": ("Meaning", "Significado"),
}
