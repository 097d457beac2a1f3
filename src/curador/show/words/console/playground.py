"""Playground: lessons on the real engine, which read no data."""

TEXTS = {
    "title": ("Playground", "Laboratorio"),
    "lead": (
        "Nine lessons on the engine that answers here. Nothing reads the data of the study, and nothing is spent.",
        "Nueve lecciones con el motor que responde aquí. Nada lee los datos del estudio y nada se gasta.",
    ),
    "lessons": ("Lessons", "Lecciones"),
    "first": ("To play", "Para jugar"),
    "further": ("For the curious", "Para curiosos"),
    "start": ("Start here.", "Comience aquí."),
    "slider": ("{name}, as a slider", "{name}, como deslizador"),
    "formula": ("The formula behind it", "La fórmula detrás"),
    "try": ("Try it", "Pruébelo"),
    "draw": ("Show", "Mostrar"),
    "range": ("From {least} to {most}.", "De {least} a {most}."),
    "code": ("The same in Python", "Lo mismo en Python"),
    "question": ("A question", "Una pregunta"),
    "answer": ("Show an answer", "Mostrar una respuesta"),
    "epsilon": ("ε", "ε"),
    # -- Laplace noise
    "laplace-title": ("Laplace noise", "Ruido de Laplace"),
    "laplace-lead": (
        "An answer is the true value µ plus noise of scale b.",
        "Una respuesta es el valor verdadero µ más ruido de escala b.",
    ),
    "laplace-formula": (
        "The density of an answer x. If one person moves the true value by at most Δ, then ε = Δ/b.",
        "La densidad de una respuesta x. Si una persona mueve el valor verdadero a lo más en Δ, entonces ε = Δ/b.",
    ),
    "laplace-mu": ("Centre µ", "Centro µ"),
    "laplace-b": ("Scale b", "Escala b"),
    "laplace-says": (
        "The standard deviation is {spread}; 95 % of answers are within ± {error} of the truth. Of {draws} answers that the engine drew, {inside} were. For a count, where Δ = 1, ε is {epsilon}.",
        "La desviación estándar es {spread}; el 95 % de las respuestas se aparta a lo más {error} de la verdad. De {draws} respuestas que sorteó el motor, así fue el {inside}. Para un conteo, donde Δ = 1, ε es {epsilon}.",
    ),
    "laplace-chart": (
        "The law, and the engine's answers counted in 24 classes.",
        "La ley, y las respuestas del motor contadas en 24 clases.",
    ),
    "laplace-law": ("density", "densidad"),
    "laplace-drawn": ("drawn answers", "respuestas sorteadas"),
    "laplace-value": ("answer", "respuesta"),
    "laplace-density": ("density", "densidad"),
    "laplace-question": (
        "Which b does a sum of ages between 0 and 120 need for ε = 0.5, if a person may be added or removed?",
        "¿Qué b necesita una suma de edades entre 0 y 120 para ε = 0.5, si una persona se puede añadir o quitar?",
    ),
    "laplace-answer": (
        "One person moves the sum by at most 120, so b = 120/0.5 = 240.",
        "Una persona mueve la suma a lo más en 120, así que b = 120/0.5 = 240.",
    ),
    # -- epsilon against error
    "accuracy-title": ("ε against error", "ε contra error"),
    "accuracy-lead": (
        "Half the ε is twice the error. The size of the data does not matter for the error, only for how much it weighs.",
        "La mitad de ε es el doble del error. El tamaño de los datos no cambia el error, solo cuánto pesa.",
    ),
    "accuracy-formula": (
        "Noise X exceeds t with a chance of at most β. Here β = 0.05, the noise is whole, and t is the engine's exact number.",
        "El ruido X supera t con probabilidad a lo más β. Aquí β = 0.05, el ruido es entero y t es el número exacto del motor.",
    ),
    "accuracy-epsilon": ("ε", "ε"),
    "accuracy-people": ("People that are counted", "Personas que se cuentan"),
    "accuracy-says": (
        "At ε = {epsilon} a count is within ± {error}, 95 times of 100; with half the ε, within ± {half}. For {people} people that is {share}.",
        "Con ε = {epsilon} un conteo se aparta a lo más {error}, 95 veces de 100; con la mitad de ε, {half}. Para {people} personas eso es {share}.",
    ),
    "accuracy-chart": (
        "The error of a count, 95 times of 100, by ε. Both axes are logarithmic.",
        "El error de un conteo, 95 veces de 100, según ε. Ambos ejes son logarítmicos.",
    ),
    "accuracy-curve": ("any ε", "todo ε"),
    "accuracy-here": ("your ε", "su ε"),
    "accuracy-error": ("error in people", "error en personas"),
    "accuracy-question": (
        "A town of 1,000 and a country of 10,000,000 are counted at the same ε. Whose count has the larger error, and whose relative error is larger?",
        "Un pueblo de 1,000 y un país de 10,000,000 se cuentan con el mismo ε. ¿Qué conteo tiene mayor error, y cuál mayor error relativo?",
    ),
    "accuracy-answer": (
        "The errors are the same: noise depends on ε and on what one person can change. The town's relative error is 10,000 times as large.",
        "Los errores son iguales: el ruido depende de ε y de lo que una persona puede cambiar. El error relativo del pueblo es 10,000 veces mayor.",
    ),
    # -- the decision game
    "deciding-title": ("The decision game", "El juego de decisión"),
    "deciding-lead": (
        "You know everything but whether Alice is in the data. You see an answer. What do you know now? The smaller ε, the less.",
        "Usted sabe todo salvo si Alicia está en los datos. Ve una respuesta. ¿Qué sabe ahora? Cuanto menor es ε, menos.",
    ),
    "deciding-formula": (
        "A: Alice is in the data. The odds of it move by a factor of at most e to the ε, whatever the answer x and the belief p before.",
        "A: Alicia está en los datos. Su razón de probabilidades se mueve a lo más por un factor e elevado a ε, sea cual sea la respuesta x, y con cualquier creencia previa p.",
    ),
    "deciding-epsilon": ("ε", "ε"),
    "deciding-prior": ("Belief before, p", "Creencia previa, p"),
    "deciding-says": (
        "Who believed {prior} believes between {lower} and {upper} afterwards, and decides wrongly at least {error} of the time. In the long run no attacker wins more than {most} of games with a fair coin. The engine's attacker won {won} of {plays}: by luck that is up to {scatter} points more or less.",
        "Quien creía {prior} cree después entre {lower} y {upper}, y decide mal al menos el {error} de las veces. A la larga ningún atacante gana más del {most} de los juegos con una moneda justa. El atacante del motor ganó el {won} de {plays}: por azar son hasta {scatter} puntos más o menos.",
    ),
    "deciding-beliefs": (
        "The belief after an answer lies between the two curves.",
        "La creencia tras una respuesta está entre las dos curvas.",
    ),
    "deciding-most": ("at most", "a lo más"),
    "deciding-least": ("at least", "al menos"),
    "deciding-same": ("nothing learned", "nada aprendido"),
    "deciding-before": ("belief before", "creencia previa"),
    "deciding-after": ("belief after", "creencia posterior"),
    "deciding-tradeoff": (
        "No test has errors below the curve; the points are tests of a real attacker, each measured, so they scatter a little.",
        "Ninguna prueba tiene errores bajo la curva; los puntos son pruebas de un atacante real, medidas, por eso oscilan un poco.",
    ),
    "deciding-bound": ("least errors", "errores mínimos"),
    "deciding-tests": ("the attacker", "el atacante"),
    "deciding-fpr": ("false accusations", "acusaciones falsas"),
    "deciding-fnr": ("Alice is missed", "Alicia pasa inadvertida"),
    "deciding-play": ("Play", "Juegue"),
    "deciding-drawn": (
        "A fair coin put Alice in the data, or left her out. Without her the count is 0, with her 1. You see only the count with noise: {answer}. Is she in?",
        "Una moneda justa puso a Alicia en los datos, o no. Sin ella el conteo es 0; con ella, 1. Usted solo ve el conteo con ruido: {answer}. ¿Está?",
    ),
    "deciding-in": ("She is in", "Está"),
    "deciding-out": ("She is out", "No está"),
    "deciding-was-in": ("Alice was in.", "Alicia estaba."),
    "deciding-was-out": ("Alice was out.", "Alicia no estaba."),
    "deciding-right": ("You were right.", "Usted acertó."),
    "deciding-wrong": ("You were wrong.", "Usted se equivocó."),
    "deciding-you": ("You", "Usted"),
    "deciding-best": ("The best attacker", "El mejor atacante"),
    "deciding-expected": ("What it gets right in the long run", "Lo que acierta a la larga"),
    "deciding-question": (
        "At which ε can the best attacker be right 90 % of the time, with a fair coin?",
        "¿Con qué ε puede acertar el mejor atacante el 90 % de las veces, con una moneda justa?",
    ),
    "deciding-answer": (
        "From ln 9, about 2.2, on: the best share is exp(ε)/(1 + exp(ε)), and 9/(1 + 9) is 0.9.",
        "Desde ln 9, cerca de 2.2: la mejor proporción es exp(ε)/(1 + exp(ε)), y 9/(1 + 9) es 0.9.",
    ),
    # -- randomized response
    "response-title": ("Randomized response", "Respuesta aleatorizada"),
    "response-lead": (
        "With a chance of γ a person tells the truth; else a second coin answers yes or no.",
        "Con probabilidad γ una persona dice la verdad; si no, una segunda moneda responde sí o no.",
    ),
    "response-formula": (
        "Nobody's answer is certain, but from the share q of reported yes follows an unbiased estimate of the true share π.",
        "La respuesta de nadie es segura, pero de la proporción q de quienes dijeron sí sale un estimador insesgado de la proporción verdadera π.",
    ),
    "response-gamma": ("Chance of truth, γ", "Probabilidad de verdad, γ"),
    "response-people": ("People", "Personas"),
    "response-share": ("True share of yes", "Proporción verdadera de sí"),
    "response-says": (
        "A report is true with a chance of {truth}, so ε is {epsilon}. {said} reported yes; the estimate is {estimate} ± {error}, and {real} is true.",
        "Un informe es verdadero con probabilidad {truth}, así que ε es {epsilon}. El {said} informó sí; la estimación es {estimate} ± {error}, y lo verdadero es {real}.",
    ),
    "response-chart": (
        "Reports lie near one half; the estimate undoes it. Its interval holds about 95 times of 100.",
        "Los informes se acercan a un medio; la estimación lo deshace. Su intervalo acierta cerca de 95 veces de 100.",
    ),
    "response-true": ("true share", "proporción verdadera"),
    "response-said": ("reported", "informada"),
    "response-estimate": ("estimated", "estimada"),
    "response-question": (
        "With two fair coins γ is 1/2. What is ε, and how many more people are needed for half the error?",
        "Con dos monedas justas γ es 1/2. ¿Cuánto es ε, y cuántas más personas hacen falta para la mitad del error?",
    ),
    "response-answer": (
        "ε = ln 3, about 1.1: a report is true with a chance of 3/4. Four times as many people: the error falls with the root of their number.",
        "ε = ln 3, cerca de 1.1: un informe es verdadero con probabilidad 3/4. Cuatro veces más personas: el error cae con la raíz de su número.",
    ),
    # -- composition
    "composing-title": ("Composition", "Composición"),
    "composing-lead": (
        "Each answer costs ε. What do k answers cost together? That depends on the theorem.",
        "Cada respuesta cuesta ε. ¿Cuánto cuestan k respuestas juntas? Depende del teorema.",
    ),
    "composing-formula": (
        "The basic and the advanced theorem. The optimal one is the best for any mechanisms of this ε; the last two know that the noise is Laplace's.",
        "El teorema básico y el avanzado. El óptimo es el mejor para mecanismos cualesquiera de este ε; los dos últimos saben que el ruido es de Laplace.",
    ),
    "composing-epsilon": ("ε of each answer", "ε de cada respuesta"),
    "composing-k": ("Answers, k", "Respuestas, k"),
    "composing-delta": ("δ", "δ"),
    "composing-says": (
        "{k} answers at ε = {epsilon} cost {basic} by the basic theorem, {optimal} at best if nothing is known of them, and {pld} if they are Laplace's.",
        "{k} respuestas con ε = {epsilon} cuestan {basic} según el teorema básico, {optimal} en el mejor caso si nada se sabe de ellas y {pld} si son de Laplace.",
    ),
    "composing-chart": (
        "Total ε by the number of answers. The optimal theorem lies next to the loss distribution, and Rényi next to zCDP: they are in the table.",
        "ε total según el número de respuestas. El teorema óptimo queda junto a la distribución de pérdida, y Rényi junto a zCDP: están en la tabla.",
    ),
    "composing-table": (
        "Total ε of all k answers, rounded to four figures.",
        "ε total de las k respuestas, redondeado a cuatro cifras.",
    ),
    "composing-theorem": ("Theorem", "Teorema"),
    "composing-total": ("total ε", "ε total"),
    "composing-answers": ("answers", "respuestas"),
    "composing-basic": ("basic", "básico"),
    "composing-advanced": ("advanced", "avanzado"),
    "composing-optimal": ("optimal", "óptimo"),
    "composing-zcdp": ("zCDP", "zCDP"),
    "composing-renyi": ("Rényi, Laplace", "Rényi, Laplace"),
    "composing-pld": ("loss distribution, Laplace", "distribución de pérdida, Laplace"),
    "composing-question": (
        "For few answers the advanced theorem gives more than the basic one. Why is that no contradiction?",
        "Para pocas respuestas el teorema avanzado da más que el básico. ¿Por qué no es una contradicción?",
    ),
    "composing-answer": (
        "Each theorem is an upper bound, and all hold at once: take the smallest. The advanced one pays for the tail δ first, and gains only as roots of k grow slower than k.",
        "Cada teorema es una cota superior y todas valen a la vez: se toma la menor. El avanzado paga primero la cola δ, y solo gana porque la raíz de k crece más lento que k.",
    ),
    # -- Rényi
    "divergence-title": ("Rényi curves", "Curvas de Rényi"),
    "divergence-lead": (
        "A promise for each order α: the curves of three mechanisms, and what they promise in numbers.",
        "Una promesa para cada orden α: las curvas de tres mecanismos, y lo que prometen en números.",
    ),
    "divergence-formula": (
        "The divergence of order α between the laws P and Q of answers about two neighbouring databases.",
        "La divergencia de orden α entre las leyes P y Q de las respuestas sobre dos bases de datos vecinas.",
    ),
    "divergence-truth": ("Randomized response: chance of truth", "Respuesta aleatorizada: probabilidad de verdad"),
    "divergence-scale": ("Laplace: scale", "Laplace: escala"),
    "divergence-sigma": ("Gauss: σ", "Gauss: σ"),
    "divergence-alpha": ("Order α of the table", "Orden α de la tabla"),
    "divergence-says": (
        "The curve of Gaussian noise is a straight line of slope {slope}: it has no pure ε. That of Laplace noise never passes {limit}. The table is at α = {alpha}.",
        "La curva del ruido gaussiano es una recta de pendiente {slope}: no tiene ε puro. La del ruido de Laplace nunca pasa de {limit}. La tabla es para α = {alpha}.",
    ),
    "divergence-chart": (
        "ζ by the order α, for a statistic that one person moves by 1.",
        "ζ según el orden α, para una estadística que una persona mueve en 1.",
    ),
    "divergence-order": ("order α", "orden α"),
    "divergence-zeta": ("ζ", "ζ"),
    "divergence-table": (
        "What is promised, by ε and by ζ: the first four rows are about randomized response.",
        "Lo que se promete, por ε y por ζ: las primeras cuatro filas son de la respuesta aleatorizada.",
    ),
    "divergence-what": ("What", "Qué"),
    "divergence-pure": ("by ε", "por ε"),
    "divergence-at": ("by ζ at the order α", "por ζ en el orden α"),
    "divergence-set": (
        "what is 0.01 likely in data that differ by one person: how likely at most",
        "lo que tiene probabilidad 0.01 en datos que difieren en una persona: cuánta a lo más",
    ),
    "divergence-after": ("after any further computation", "tras cualquier cálculo posterior"),
    "divergence-twice": ("two answers", "dos respuestas"),
    "divergence-pair": ("two people together", "dos personas juntas"),
    "divergence-response": ("randomized response", "respuesta aleatorizada"),
    "divergence-laplace": ("Laplace noise", "ruido de Laplace"),
    "divergence-gaussian": ("Gaussian noise", "ruido gaussiano"),
    "divergence-question": (
        "Which of the three curves has no limit as α grows, and what does that say?",
        "¿Cuál de las tres curvas no tiene límite cuando α crece, y qué dice eso?",
    ),
    "divergence-answer": (
        "The Gaussian one. The limit is the pure ε, so Gaussian noise promises none: it needs a δ.",
        "La gaussiana. El límite es el ε puro, así que el ruido gaussiano no promete ninguno: necesita un δ.",
    ),
    # -- truncation
    "cutting-title": ("Noise that is cut off", "Ruido truncado"),
    "cutting-lead": (
        "It looks harmless to forbid noise beyond a bound B. But it breaks the promise: ε is infinite.",
        "Parece inofensivo prohibir el ruido más allá de una cota B. Pero rompe la promesa: ε es infinito.",
    ),
    "cutting-formula": (
        "A: Alice is in the data. Without her the count is 0, and no answer x exceeds B; with her one may. Such an answer tells that she is in. The noise has scale 1; δ, at ε = 1, says how often.",
        "A: Alicia está en los datos. Sin ella el conteo es 0 y ninguna respuesta x supera B; con ella, alguna puede. Tal respuesta dice que está. El ruido tiene escala 1; δ, con ε = 1, dice cuán a menudo.",
    ),
    "cutting-bound": ("Bound B", "Cota B"),
    "cutting-says": (
        "Cut off at {bound}, ε is {epsilon}; at ε = 1, δ is {delta}. Of {draws} answers with Alice in the data, {sure} tell it for sure.",
        "Truncado en {bound}, ε es {epsilon}; con ε = 1, δ es {delta}. De {draws} respuestas con Alicia en los datos, {sure} lo dicen con certeza.",
    ),
    "cutting-chart": (
        "The power of ten of δ at ε = 1, by the bound.",
        "La potencia de diez de δ con ε = 1, según la cota.",
    ),
    "cutting-delta": ("any bound", "toda cota"),
    "cutting-here": ("your bound", "su cota"),
    "cutting-log": ("log₁₀ δ", "log₁₀ δ"),
    "cutting-question": (
        "A count is never negative. May a negative noisy count be shown as 0 without breaking the promise?",
        "Un conteo nunca es negativo. ¿Se puede mostrar un conteo con ruido negativo como 0 sin romper la promesa?",
    ),
    "cutting-answer": (
        "Yes. The noise is whole, and the answer is changed afterwards, from itself alone: that is post-processing. Drawing the noise again until it fits is not.",
        "Sí. El ruido está completo y la respuesta se cambia después, solo a partir de ella misma: es posprocesado. Sortear el ruido otra vez hasta que quepa no lo es.",
    ),
    # -- central against local
    "sides-title": ("Central against local", "Central contra local"),
    "sides-lead": (
        "A curator adds noise once, to the count. Without a curator everybody adds their own.",
        "Un curador añade ruido una vez, al conteo. Sin curador cada cual añade el suyo.",
    ),
    "sides-formula": (
        "The order of the error of a count of n people for small ε: with a curator, and without one.",
        "El orden del error de un conteo de n personas para ε pequeño: con un curador, y sin él.",
    ),
    "sides-epsilon": ("ε", "ε"),
    "sides-people": ("People", "Personas"),
    "sides-says": (
        "Of {people} people at ε = {epsilon}, a curator's count is within ± {central}, 95 times of 100; the count from randomized answers within ± {local}: {times} times as much.",
        "De {people} personas con ε = {epsilon}, el conteo de un curador se aparta a lo más {central}, 95 veces de 100; el de respuestas aleatorizadas, {local}: {times} veces más.",
    ),
    "sides-chart": (
        "The error of a count by the number of people. Both axes are logarithmic.",
        "El error de un conteo según el número de personas. Ambos ejes son logarítmicos.",
    ),
    "sides-central": ("central", "central"),
    "sides-local": ("local", "local"),
    "sides-error": ("error in people", "error en personas"),
    "sides-question": (
        "The local error grows with the number of people. Why do large companies use it all the same?",
        "El error local crece con el número de personas. ¿Por qué lo usan igual las grandes empresas?",
    ),
    "sides-answer": (
        "It grows with the root only, so the error of a share falls; with millions of people that is enough. And nobody has to trust whoever collects.",
        "Crece solo con la raíz, así que el error de una proporción cae; con millones de personas eso basta. Y nadie tiene que confiar en quien recolecta.",
    ),
    # -- reconstruction
    "rebuilding-title": ("Reconstruction", "Reconstrucción"),
    "rebuilding-lead": (
        "200 made-up people have a secret bit each. An attacker asks for counts over random subsets, and solves for the bits.",
        "200 personas inventadas tienen un bit secreto cada una. Un atacante pide conteos sobre subconjuntos al azar y despeja los bits.",
    ),
    "rebuilding-formula": (
        "Least squares: each row of A is a subset, c are the counts, s the secret bits, which are rounded in the end.",
        "Mínimos cuadrados: cada fila de A es un subconjunto, c son los conteos y s los bits secretos, que al final se redondean.",
    ),
    "rebuilding-counts": ("Counts that are asked for", "Conteos que se piden"),
    "rebuilding-epsilon": ("ε of all counts together", "ε de todos los conteos juntos"),
    "rebuilding-says": (
        "From {counts} exact counts {exact} of the {bits} bits are found; with noise of ε = 1 on each, and no budget, {unbudgeted}. With ε = {epsilon} for all of them, {private}: always saying the commoner bit finds {guess}, and no attack expects more than {ceiling} of fair coins.",
        "De {counts} conteos exactos se halla el {exact} de los {bits} bits; con ruido de ε = 1 en cada uno, sin presupuesto, el {unbudgeted}. Con ε = {epsilon} para todos, el {private}: decir siempre el bit más común halla el {guess}, y ningún ataque espera más del {ceiling} de monedas justas.",
    ),
    "rebuilding-chart": ("The share of bits that are found.", "La proporción de bits hallados."),
    "rebuilding-exact": ("exact counts", "conteos exactos"),
    "rebuilding-unbudgeted": ("ε = 1 for each count, no budget", "ε = 1 por conteo, sin presupuesto"),
    "rebuilding-share": ("share found", "proporción hallada"),
    "rebuilding-ceiling": ("the most that any attack can expect", "lo más que puede esperar cualquier ataque"),
    "rebuilding-question": (
        "Each count alone has ε = 1, a good promise. Why are the bits found all the same?",
        "Cada conteo por sí solo tiene ε = 1, una buena promesa. ¿Por qué se descubren los bits de todos modos?",
    ),
    "rebuilding-answer": (
        "Promises add up: a thousand counts at ε = 1 are ε = 1,000 together, which promises nothing. A budget is what stops it.",
        "Las promesas se suman: mil conteos con ε = 1 son juntos ε = 1,000, que no promete nada. Lo que lo detiene es un presupuesto.",
    ),
}
