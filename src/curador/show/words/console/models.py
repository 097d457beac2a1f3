"""Models: what one would cost, what was learned, what it says of a row."""

TEXTS = {
    "title": ("Models", "Modelos"),
    "lead": (
        "Learn a model from a table under the same budget as questions. What it costs and how right it would be is shown before you pay.",
        "Entrene un modelo con una tabla, con el mismo presupuesto que las preguntas. Cuánto cuesta y cuánto acertaría se muestra antes de pagar.",
    ),
    # -- what was bought
    "bought": ("Models that were bought", "Modelos comprados"),
    "none": (
        "No model was bought yet. Choose one below: looking at its cost is free.",
        "Aún no se ha comprado ningún modelo. Elija uno abajo: mirar su costo es gratis.",
    ),
    "none-yet": ("No model was bought yet.", "Aún no se ha comprado ningún modelo."),
    "model": ("Model", "Modelo"),
    "at": ("Bought (UTC)", "Comprado (UTC)"),
    "who": ("By", "Por"),
    "cost": ("Cost", "Costo"),
    "running-fit": ("A model is being learned…", "Se está aprendiendo un modelo…"),
    "running-score": ("A model is being scored…", "Se está evaluando un modelo…"),
    # -- a new one
    "new": ("A new model", "Un modelo nuevo"),
    "table": ("Table", "Tabla"),
    "what": ("What to learn from {table}", "Qué aprender de {table}"),
    "family-classes": ("Say which of several", "Clasificar"),
    "family-number": ("Say a number", "Predecir un número"),
    "family-shape": ("Find the shape of the data", "Hallar la forma de los datos"),
    "name-LogisticRegression": ("Logistic regression", "Regresión logística"),
    "about-LogisticRegression": (
        "Adds up a weight for each column and gives the chance of each class. The first to try with a delta.",
        "Suma un peso por columna y da la probabilidad de cada clase. Lo primero que probar si hay delta.",
    ),
    "name-LinearSVC": ("Linear support vector machine", "Máquina lineal de vectores de soporte"),
    "about-LinearSVC": (
        "Draws a line between two classes; gives a margin, not a chance. Needs a delta.",
        "Traza una línea entre dos clases; da un margen, no una probabilidad. Necesita un delta.",
    ),
    "name-AdditiveClassifier": ("Additive classifier", "Clasificador aditivo"),
    "about-AdditiveClassifier": (
        "Adds up a step function of each number, for effects that are not straight lines. Needs a delta.",
        "Suma una función escalonada de cada número, para efectos que no son rectas. Necesita un delta.",
    ),
    "name-GaussianNB": ("Naive Bayes", "Bayes ingenuo"),
    "about-GaussianNB": (
        "Means and counts of each class. Cheap, and works with an epsilon alone.",
        "Medias y conteos de cada clase. Barato, y funciona solo con un épsilon.",
    ),
    "name-LinearRegression": ("Linear regression", "Regresión lineal"),
    "about-LinearRegression": (
        "A number as a weighted sum of columns. Works with an epsilon alone.",
        "Un número como suma ponderada de columnas. Funciona solo con un épsilon.",
    ),
    "name-Ridge": ("Ridge regression", "Regresión ridge"),
    "about-Ridge": (
        "The same with small weights: for few rows or many columns. Other penalties later are free.",
        "Lo mismo con pesos pequeños: para pocas filas o muchas columnas. Otras penalizaciones después son gratis.",
    ),
    "name-PCA": ("Principal components", "Componentes principales"),
    "about-PCA": (
        "The directions in which rows differ most.",
        "Las direcciones en que las filas difieren más.",
    ),
    "name-KMeans": ("Clusters (k-means)", "Grupos (k-medias)"),
    "about-KMeans": ("Centres around which rows lie.", "Centros alrededor de los cuales están las filas."),
    "from": ("Columns", "Columnas"),
    "label": ("What it predicts", "Qué predice"),
    "label-hint": (
        "To tell classes apart: a column with a list of values. To predict a number: one with a lowest and a highest.",
        "Para clasificar: una columna con lista de valores. Para predecir un número: una con mínimo y máximo.",
    ),
    "label-keyed": ("one of several", "uno de varios"),
    "label-numeric": ("a number", "un número"),
    "features": ("What it learns from", "De qué aprende"),
    "unusable": (
        "has neither bounds nor keys, so nothing can be learned from it",
        "no tiene ni límites ni claves, así que no se puede aprender de ella",
    ),
    "rows": ("Which rows", "Qué filas"),
    "where": ("Only rows where", "Solo filas donde"),
    "where-hint": (
        "A condition as in SQL, such as age >= 18; empty: all.",
        "Una condición como en SQL, por ejemplo age >= 18; vacío: todas.",
    ),
    "rows-per-unit": ("Rows of one person that count", "Filas de una persona que cuentan"),
    "rows-per-unit-hint": (
        "Only where a person may have several rows; empty: as the table declares.",
        "Solo donde una persona puede tener varias filas; vacío: como declara la tabla.",
    ),
    "guarantee": ("Guarantee and cost", "Garantía y costo"),
    "epsilon": ("Epsilon", "Épsilon"),
    "epsilon-hint": (
        "Smaller tells less about each person; the model is less right.",
        "Uno menor revela menos de cada persona; el modelo acierta menos.",
    ),
    "delta": ("Delta", "Delta"),
    "delta-hint": (
        "Far below 1 / number of people; empty: epsilon alone.",
        "Muy por debajo de 1 / número de personas; vacío: solo épsilon.",
    ),
    "set-n_clusters": ("Clusters", "Grupos"),
    "set-n_clusters-hint": ("Empty: 8.", "Vacío: 8."),
    "set-n_components": ("Components to show", "Componentes que mostrar"),
    "set-n_components-hint": (
        "A number, or a share of the variance below 1; empty: all.",
        "Un número, o una parte de la varianza menor que 1; vacío: todos.",
    ),
    "set-alpha": ("Penalty", "Penalización"),
    "set-alpha-hint": (
        "No part of what is bought; empty: 1.",
        "No es parte de lo comprado; vacío: 1.",
    ),
    "set-bins": ("Ranges of each number", "Intervalos de cada número"),
    "set-bins-hint": (
        "How many equal ranges there are between its lowest and its highest; empty: the usual number.",
        "En cuántos intervalos iguales se parte de su mínimo a su máximo; vacío: los usuales.",
    ),
    "set-steps": ("Steps", "Pasos"),
    "set-steps-hint": (
        "More steps share the same budget; empty: the usual.",
        "Más pasos comparten el mismo presupuesto; vacío: lo usual.",
    ),
    "pay": ("Pay and learn", "Pagar y entrenar"),
    "pay-cost": ("Pay {cost} and learn", "Pagar {cost} y entrenar"),
    "pay-anyway": ("Pay {cost} and learn anyway", "Pagar {cost} y entrenar de todos modos"),
    "pay-free": ("Show it again, for free", "Mostrarlo de nuevo, gratis"),
    "plan": ("What would it cost?", "¿Cuánto costaría?"),
    "pay-hint": (
        "Paying cannot be undone. The same model again is free.",
        "Pagar no se puede deshacer. El mismo modelo otra vez es gratis.",
    ),
    "free": (
        "Exactly this was bought before: learning it again costs nothing and gives the same model.",
        "Esto mismo ya se compró: aprenderlo de nuevo no cuesta nada y da el mismo modelo.",
    ),
    "short": (
        "The budget does not cover this any more. Choose a smaller epsilon or delta, or ask the curator for more.",
        "El presupuesto ya no alcanza para esto. Elija un épsilon o delta menor, o pida más al curador.",
    ),
    # -- waiting
    "job-fit": ("A model is learned", "Se aprende un modelo"),
    "job-score": ("A model is scored", "Se evalúa un modelo"),
    "may-leave": (
        "You may leave this page: it goes on, and the list of models shows it when it is done.",
        "Puede dejar esta página: sigue adelante, y la lista de modelos lo mostrará cuando termine.",
    ),
    "cancelled": (
        "It was cancelled before it began; nothing was paid.",
        "Se canceló antes de comenzar; no se pagó nada.",
    ),
    "back": ("To the models", "A los modelos"),
    # -- one model
    "one": ("Model {id}", "Modelo {id}"),
    "bought-now": (
        "The model was learned and paid. Reading it again, as often as you like, is free.",
        "El modelo se aprendió y se pagó. Leerlo otra vez, cuantas veces quiera, es gratis.",
    ),
    "bought-again": (
        "This was bought before: nothing was paid now.",
        "Esto ya se había comprado: ahora no se pagó nada.",
    ),
    "spent": ("What was spent, and what it protects", "Qué se gastó y qué protege"),
    "charge": ("Charge", "Cargo"),
    "because": ("Reason: {because}", "Motivo: {because}"),
    "learned": ("What was learned", "Qué se aprendió"),
    "numbers": ("All numbers", "Todos los números"),
    "hint-weights": (
        "A weight is for a column scaled by its bounds, of keys from their mean; a coefficient is for its own unit (a date's is a day), as the file has it.",
        "Un peso es para una columna escalada por sus límites, el de una clave desde la media de ellas; un coeficiente, para su propia unidad (la de una fecha es un día), como en el archivo.",
    ),
    "hint-scaled": (
        "Weights are for columns scaled by their bounds, of keys from their mean, so that they can be compared.",
        "Los pesos son para columnas escaladas por sus límites, los de claves desde su media, para poder compararlos.",
    ),
    "hint-bayes": (
        "Of a number the mean and the standard deviation in each class; of a key its share.",
        "De un número, la media y la desviación estándar en cada clase; de una clave, su parte.",
    ),
    "hint-turn": (
        "How much of each scaled column is in each component.",
        "Cuánto de cada columna escalada hay en cada componente.",
    ),
    "hint-centres": (
        "The centres in the columns' own units; of a key its share.",
        "Los centros en las unidades de las columnas; de una clave, su parte.",
    ),
    "noise-hint": (
        "All numbers hold noise: which of two small ones is larger means little.",
        "Todos los números tienen ruido: cuál de dos pequeños es mayor dice poco.",
    ),
    "scored-on": ("{model}: how often it is right · {table}", "{model}: cuántas veces acierta · {table}"),
    "show-other": ("Show", "Mostrar"),
    "other-alpha": (
        "Free: the same noised numbers with another penalty; a larger one makes weights smaller.",
        "Gratis: los mismos números con ruido y otra penalización; una mayor achica los pesos.",
    ),
    "other-n_components": (
        "Free: the same noised numbers; a number, or a share of the variance below 1.",
        "Gratis: los mismos números con ruido; un número, o una parte de la varianza menor que 1.",
    ),
    "column": ("Column", "Columna"),
    "weight": ("Weight (scaled)", "Peso (escalado)"),
    "coefficient": ("Coefficient (own unit)", "Coeficiente (unidad propia)"),
    "intercept": ("intercept", "intercepto"),
    "component": ("Component {n}", "Componente {n}"),
    "cluster": ("Cluster {n}", "Grupo {n}"),
    "unit-odds": ("log-odds", "logaritmo de la razón de probabilidades"),
    "unit-margin": ("margin", "margen"),
    "chart-two": (
        "To the right a column speaks for {label} = {second}, to the left for {first}: a number from the middle of its bounds to their upper end, a key from the mean of the keys. In {unit}.",
        "A la derecha una columna habla por {label} = {second}; a la izquierda, por {first}: un número desde la mitad de sus límites hasta su extremo superior, una clave desde la media de las claves. En {unit}.",
    ),
    "chart-many": (
        "How much each column speaks for each value of {label}, in {unit}; another colour speaks against it.",
        "Cuánto habla cada columna por cada valor de {label}, en {unit}; otro color habla en contra.",
    ),
    "chart-steps": (
        "The part of {feature}: above zero it speaks for {second}, below for {first}.",
        "La parte de {feature}: por encima de cero habla por {second}; por debajo, por {first}.",
    ),
    "chart-line": (
        "By how much {label} moves: for a number from the middle of its bounds to their upper end, for a key from the mean of the keys.",
        "Cuánto se mueve {label}: con un número, desde la mitad de sus límites hasta su extremo superior; con una clave, desde la media de las claves.",
    ),
    "chart-prior": ("The share of each value of {label}.", "La parte de cada valor de {label}."),
    "chart-means": (
        "The mean of each number in each class; −1 and 1 are the ends of its bounds.",
        "La media de cada número en cada clase; −1 y 1 son los extremos de sus límites.",
    ),
    "chart-variance": (
        "How much of the variance of scaled columns each component holds.",
        "Cuánta varianza de las columnas escaladas tiene cada componente.",
    ),
    "chart-turn": (
        "How much of each column is in each component; another colour is below zero.",
        "Cuánto de cada columna hay en cada componente; otro color es bajo cero.",
    ),
    "chart-centres": (
        "Where the centres lie; −1 and 1 are the ends of a number's bounds, a key is between 0 and 1.",
        "Dónde están los centros; −1 y 1 son los extremos de los límites de un número, una clave está entre 0 y 1.",
    ),
    "chart-cut": ("The {n} heaviest are shown.", "Se muestran los {n} de más peso."),
    # -- a row that is typed
    "try": ("Try it on a made-up row", "Probarlo con una fila inventada"),
    "try-hint": (
        "Type any values: this is free, reads no data, and is kept nowhere. Beyond its bounds a number counts as their end; empty counts as missing.",
        "Escriba los valores que quiera: es gratis, no lee datos y no se guarda. Más allá de sus límites un número cuenta como su extremo; vacío cuenta como ausente.",
    ),
    "between": ("{low} to {high}", "de {low} a {high}"),
    "none-of-them": ("(none of them)", "(ninguno)"),
    "predict": ("What does the model say?", "¿Qué dice el modelo?"),
    "says": ("The model says", "El modelo dice"),
    "margin": ("Margin", "Margen"),
    "away": (
        "How far the row is from each centre, in scaled columns:",
        "A qué distancia está la fila de cada centro, en columnas escaladas:",
    ),
    "chances": (
        "The chance of each class, as the model sees it.",
        "La probabilidad de cada clase, según el modelo.",
    ),
    # -- a score
    "score": ("How often is it right?", "¿Cuántas veces acierta?"),
    "score-hint": (
        "Counted on the private rows, so it costs: two noised counts, of rows it is right about and of the others. On the rows it learned from a model looks a little better than on new ones.",
        "Se cuenta en las filas privadas, así que cuesta: dos conteos con ruido, de las filas en que acierta y de las otras. En las filas de las que aprendió, un modelo parece algo mejor que en otras nuevas.",
    ),
    "score-epsilon-hint": ("What this score costs.", "Lo que cuesta esta evaluación."),
    "score-where-hint": (
        "Empty: the rows it learned from.",
        "Vacío: las filas de las que aprendió.",
    ),
    "score-means": (
        "Paying cannot be undone; the same score again is free.",
        "Pagar no se puede deshacer; la misma evaluación otra vez es gratis.",
    ),
    "score-button": ("Pay and count", "Pagar y contar"),
    "right": ("Right about", "Acierta en"),
    "right-between": ("{low} to {high}, 95 % of the time", "{low} a {high}, el 95 % de las veces"),
    "interval": ("Between, 95 % of the time", "Entre, el 95 % de las veces"),
    # -- to take away
    "take": ("Take it away", "Llevárselo"),
    "file": ("Model as JSON", "Modelo como JSON"),
    "file-hint": (
        "The file holds what was released and what was declared, no rows; curador.learn.load reads it without running code.",
        "El archivo contiene lo publicado y lo declarado, ninguna fila; curador.learn.load lo lee sin ejecutar código.",
    ),
    "code-python": ("Python", "Python"),
    "code-shell": ("Command line, beside the study file", "Línea de comandos, junto al archivo del estudio"),
    "code-toml": ("model.toml", "model.toml"),
}
