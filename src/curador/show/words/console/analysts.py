"""Analysts: budgets, links and tokens."""

TEXTS = {
    "title": ("Analysts", "Analistas"),
    "lead": (
        "Who may ask, how much each may learn, and what opens the door for them. Every analyst may ask about all tables of the study.",
        "Quién puede preguntar, cuánto puede averiguar cada uno y con qué entra. Todo analista puede preguntar por todas las tablas del estudio.",
    ),
    # -- budgets
    "budgets": ("Budgets", "Presupuestos"),
    "budget": ("Budget", "Presupuesto"),
    "name": ("Name", "Nombre"),
    "questions": ("Charges", "Cargos"),
    "spent": ("Spent", "Gastado"),
    "remaining": ("Remaining", "Disponible"),
    "of": ("Of", "De"),
    "until": ("Last day", "Último día"),
    "state": ("State", "Estado"),
    "state-open": ("open", "abierto"),
    "state-closed": ("closed", "cerrado"),
    "state-expired": ("expired", "vencido"),
    "state-ended": ("ended", "terminado"),
    "is-closed": (
        "This budget was closed: nothing can be bought with it any more. What was spent stays spent.",
        "Este presupuesto fue cerrado: ya no se puede comprar nada con él. Lo gastado queda gastado.",
    ),
    "is-expired": (
        "This budget has ended: nothing can be bought with it any more. What was spent stays spent.",
        "Este presupuesto venció: ya no se puede comprar nada con él. Lo gastado queda gastado.",
    ),
    "all-tables": ("All tables together", "Todas las tablas juntas"),
    "now": ("of it only {left} now", "de ello solo {left} ahora"),
    "now-means": (
        "Only {left} of it can be spent now: the budget above has no more.",
        "De ello solo se puede gastar {left} ahora: el presupuesto de arriba no tiene más.",
    ),
    "given-more": (
        "Analysts have {given} left together, and all tables only {left}. Whoever asks first spends it.",
        "Los analistas tienen juntos {given} y todas las tablas solo {left}. Lo gasta quien pregunte primero.",
    ),
    "done-given": (
        "The budget was given. Now make a link, so that they can come in.",
        "Se dio el presupuesto. Ahora cree un enlace para que pueda entrar.",
    ),
    "done-raised": ("The budget was raised.", "El presupuesto fue subido."),
    "done-closed": ("The budget was closed.", "El presupuesto fue cerrado."),
    "done-ended": (
        "It has ended: nobody comes in with it any more, and the sessions that it began are over.",
        "Terminó: ya nadie entra con él, y las sesiones que abrió acabaron.",
    ),
    "group-of": ("group of {n}", "grupo de {n}"),
    "in-group": ("in {group}", "en {group}"),
    "ends": ("Its last day is {day}, UTC.", "Su último día es el {day}, UTC."),
    "nobody": (
        "Nobody has a budget yet. Give the first analyst one below, then make a link for them.",
        "Nadie tiene presupuesto todavía. Dé uno abajo al primer analista y luego cree un enlace para esa persona.",
    ),
    # -- giving and raising
    "give": ("Add an analyst", "Añadir un analista"),
    "name-hint": (
        "The analyst's, or that of a group that shares a budget: letters, digits, spaces and . _ - @. It stays in the ledger for ever.",
        "El del analista, o el de un grupo que comparte presupuesto: letras, dígitos, espacios y . _ - @. Queda en el registro para siempre.",
    ),
    "group": ("Member of a group", "Miembro de un grupo"),
    "no-group": ("none", "ninguno"),
    "group-hint": (
        "A group is added like an analyst, first. What a member spends is spent by the group, too.",
        "Un grupo se añade antes, como un analista. Lo que gasta un miembro lo gasta también el grupo.",
    ),
    "counted": ("Counted in", "Se cuenta en"),
    "kind-epsilon": ("epsilon", "épsilon"),
    "kind-approximate": ("epsilon and delta", "épsilon y delta"),
    "kind-rho": ("rho (zero-concentrated)", "rho (concentrada)"),
    "counted-hint": (
        "Epsilon is right for counts, sums and means of groups that are declared. Groups that are not, and Gaussian noise, need a delta.",
        "Épsilon basta para conteos, sumas y medias de grupos declarados. Los grupos no declarados y el ruido gaussiano necesitan un delta.",
    ),
    "amount": ("Budget, in epsilon", "Presupuesto, en épsilon"),
    "amount-rho": ("Budget, in rho", "Presupuesto, en rho"),
    "amount-hint": (
        "0.1 pays for a few counts, 1 for a whole study. A decimal or a fraction: 0.5, 1/10. No more than is left for all tables.",
        "0.1 paga unos pocos conteos, 1 un estudio entero. Un decimal o una fracción: 0.5, 1/10. No más de lo que queda para todas las tablas.",
    ),
    "delta": ("Delta", "Delta"),
    "delta-hint": (
        "The chance that the promise fails, such as 1e-7: far below 1 / (number of people). Empty with epsilon alone.",
        "La probabilidad de que la promesa falle, como 1e-7: muy por debajo de 1 / (número de personas). Vacío con épsilon solo.",
    ),
    "expires": ("Last day", "Último día"),
    "expires-hint": (
        "After this day (UTC) nothing can be bought with it; a link that still opens then only shows answers. It cannot be moved later; empty is for ever.",
        "Después de este día (UTC) no se compra nada con él; un enlace que siga abierto solo muestra respuestas. No se puede cambiar después; vacío es para siempre.",
    ),
    "because-needed": ("Reason (needed)", "Motivo (necesario)"),
    "more-choices": ("More choices", "Más opciones"),
    "because": ("Reason", "Motivo"),
    "because-hint": ("Kept in the ledger, for auditors.", "Queda en el registro, para auditores."),
    "give-means": (
        "A budget is never lowered and its end never moved: it can only be raised, or closed for ever. The tables' own budget limits all analysts together.",
        "Un presupuesto nunca se baja ni se mueve su fin: solo se puede subir, o cerrar para siempre. El presupuesto de las tablas limita a todos los analistas juntos.",
    ),
    "give-button": ("Only give the budget", "Solo dar el presupuesto"),
    "give-link-button": ("Give it and make a sign-in link", "Darlo y crear un enlace de entrada"),
    "raise": ("Raise the budget", "Subir el presupuesto"),
    "more": ("More epsilon", "Más épsilon"),
    "more-hint": (
        "A decimal or a fraction: 0.5, 1/10. With what is left of it, no more than is left for all tables.",
        "Un decimal o una fracción: 0.5, 1/10. Con lo que aún queda, no más de lo que queda para todas las tablas.",
    ),
    "more-all-hint": (
        "How much is added, as a decimal or a fraction: 0.5, 1/10.",
        "Cuánto se añade, como decimal o fracción: 0.5, 1/10.",
    ),
    "more-rho": ("More rho", "Más rho"),
    "more-delta": ("More delta", "Más delta"),
    "more-delta-hint": ("Empty: delta stays as it is.", "Vacío: delta queda como está."),
    "more-delta-first": (
        "Empty: it goes on counting epsilon alone. With a delta it promises (epsilon, delta) from now on.",
        "Vacío: sigue contando épsilon solo. Con un delta promete (épsilon, delta) desde ahora.",
    ),
    "raise-means": (
        "A raise is for ever, and it must not depend on answers: decide by the calendar or the law. It lets this analyst learn more about every person in the data.",
        "Una subida es para siempre y no debe depender de las respuestas: decida por calendario o por ley. Permite a este analista averiguar más sobre cada persona de los datos.",
    ),
    "raise-all-means": (
        "A raise is for ever, and it must not depend on answers: decide by the calendar or the law. It weakens what every person in the data was promised. Analysts' own budgets stay as they are.",
        "Una subida es para siempre y no debe depender de las respuestas: decida por calendario o por ley. Debilita lo que se prometió a cada persona de los datos. Los presupuestos de los analistas quedan como están.",
    ),
    "raise-button": ("Raise for ever", "Subir para siempre"),
    "close": ("Close the budget", "Cerrar el presupuesto"),
    "close-means": (
        "{name} can buy nothing any more, from this moment and for ever; the name cannot get another budget. What was spent stays spent, and answers that were bought stay bought. Links and tokens still open: end them apart.",
        "{name} ya no podrá comprar nada, desde este momento y para siempre; el nombre no puede recibir otro presupuesto. Lo gastado queda gastado y las respuestas compradas siguen compradas. Los enlaces y tokens siguen abiertos: termínelos aparte.",
    ),
    "close-group": (
        "{name} is a group: nobody in it can buy anything any more, from this moment and for ever. What was spent stays spent, and answers that were bought stay bought.",
        "{name} es un grupo: nadie en él podrá comprar nada, desde este momento y para siempre. Lo gastado queda gastado y las respuestas compradas siguen compradas.",
    ),
    "sure": ("I understand that this cannot be undone", "Entiendo que esto no se puede deshacer"),
    "close-button": ("Close for ever", "Cerrar para siempre"),
    # -- links and tokens
    "doors": ("Who can come in", "Quién puede entrar"),
    "doors-lead": (
        "Only their hashes are kept: a link or token that was lost is replaced by a new one.",
        "Solo se guardan sus resúmenes: un enlace o token perdido se reemplaza por uno nuevo.",
    ),
    "no-doors": ("Nobody can come in yet.", "Nadie puede entrar todavía."),
    "no-door-yet": (
        "Nothing opens for this analyst yet: make a link and send it to them.",
        "Nada abre todavía para este analista: cree un enlace y envíeselo.",
    ),
    "door": ("What", "Qué"),
    "for": ("For", "Para"),
    "label": ("Note", "Nota"),
    "label-hint": (
        "A word for you, such as the machine it is for.",
        "Una palabra para usted, como la máquina donde se usará.",
    ),
    "first-start": ("first start", "primer arranque"),
    "kind-token": ("Token", "Token"),
    "kind-code": ("Link", "Enlace"),
    "kind-password": ("Account", "Cuenta"),
    "own": ("(you)", "(usted)"),
    "sessions": ("signed in: {n}", "sesiones: {n}"),
    "end": ("End…", "Terminar…"),
    "end-means": (
        "It opens nothing from this moment on, and sessions that it began end with it. This cannot be undone; a new one can be made.",
        "Deja de abrir desde este momento, y con él terminan las sesiones que abrió. No se puede deshacer; se puede crear otro.",
    ),
    "end-own": (
        "You signed in with this one: you are signed out at once, and come back only with another link, token or password.",
        "Usted entró con este: su sesión termina de inmediato y solo volverá con otro enlace, token o contraseña.",
    ),
    "end-button": ("End it", "Terminar"),
    "new-door": ("Let somebody in", "Dejar entrar a alguien"),
    "shape": ("What to make", "Qué crear"),
    "shape-link": ("Sign-in link, works once", "Enlace de entrada, sirve una vez"),
    "shape-token": ("Token for programs", "Token para programas"),
    "make-link": ("Make a sign-in link", "Crear un enlace de entrada"),
    "make-token": ("Make a token for programs", "Crear un token para programas"),
    "shape-hint": (
        "A link lets a person choose a password. A token is for a program or a notebook, and lasts.",
        "Un enlace permite a una persona elegir una contraseña. Un token es para un programa o un cuaderno, y dura.",
    ),
    "role": ("Role", "Rol"),
    "role-hint": (
        "Analysts ask; auditors read the ledger; readers see what was published; curators may do everything here.",
        "Los analistas preguntan; los auditores leen el registro; los lectores ven lo publicado; los curadores pueden hacer todo aquí.",
    ),
    "choose": ("choose…", "elija…"),
    "whose": ("Whose budget", "Presupuesto de"),
    "whose-hint": ("For an analyst.", "Para un analista."),
    "door-expires": ("Opens until", "Abre hasta el"),
    "door-expires-hint": (
        "After this day (UTC) it opens nothing; empty is until it is ended.",
        "Después de este día (UTC) no abre nada; vacío es hasta que se termine.",
    ),
    "door-means": (
        "It is shown once, on the next page. Whoever holds it comes in: hand it over on a safe way.",
        "Se muestra una sola vez, en la página siguiente. Quien lo tenga entra: entréguelo por una vía segura.",
    ),
    "door-button": ("Make it and show it once", "Crear y mostrar una vez"),
    "made-link": ("A link that works once", "Un enlace que sirve una vez"),
    "made-token": ("A new token", "Un token nuevo"),
    "made-for": ("For {who}. It is shown only now.", "Para {who}. Se muestra solo ahora."),
    "made-lasts": ("It works until it is used, or ended by you.", "Sirve hasta que se use o usted lo termine."),
    "made-lasts-until": (
        "It works until it is used, or ended by you, and not after {day}, UTC.",
        "Sirve hasta que se use o usted lo termine, y no después del {day}, UTC.",
    ),
    "made-link-means": (
        "Whoever uses it first chooses the password. It still works after it was merely opened; it is used up once a password is chosen. It costs no budget.",
        "Quien lo use primero elige la contraseña. Sigue sirviendo aunque solo se haya abierto; se agota cuando se elige una contraseña. No cuesta presupuesto.",
    ),
    "made-token-means": (
        "Programs send it as Authorization: Bearer …; it can also be used to sign in here.",
        "Los programas lo envían como Authorization: Bearer …; también sirve para iniciar sesión aquí.",
    ),
    "kept-it": ("I have kept it", "Ya lo guardé"),
    # -- what was done
    "activity": ("What was asked", "Qué se preguntó"),
    "all-activity": ("All of it in the ledger", "Todo en el registro"),
    "no-activity": ("Nothing was asked yet.", "Todavía no se ha preguntado nada."),
    "decisions": ("Decisions", "Decisiones"),
    # -- refusals
    "error-name-of-login": (
        "Somebody else signs in by this name here. Give the analyst another one, so that nobody takes one for the other.",
        "Aquí otra persona inicia sesión con este nombre. Dé otro al analista, para que nadie confunda a los dos.",
    ),
    "error-more-than-all": (
        "Only {remaining} is left for all together: more could not be spent, and would stand in the ledger for ever. Give at most that; or raise the budget of all tables first.",
        "Solo queda {remaining} para todos: más no se podría gastar, y quedaría en el registro para siempre. Dé a lo sumo eso, o suba antes el presupuesto de todas las tablas.",
    ),
    "error-delta-needed": (
        "A budget of epsilon and delta needs a delta, such as 1e-7. Or choose “epsilon” alone.",
        "Un presupuesto de épsilon y delta necesita un delta, como 1e-7. O elija «épsilon» solo.",
    ),
    "error-delta-unused": (
        "A budget that is counted in epsilon has no delta. Leave this empty, or choose “epsilon and delta”.",
        "Un presupuesto contado en épsilon no tiene delta. Deje esto vacío, o elija «épsilon y delta».",
    ),
    "error-analyst-name": (
        "Use letters, digits, spaces and . _ - @ in a name: it stays for ever.",
        "Use letras, dígitos, espacios y . _ - @ en un nombre: queda para siempre.",
    ),
    "error-name-length": (
        "Write a name of at most {most} characters.",
        "Escriba un nombre de a lo sumo {most} caracteres.",
    ),
    "error-name-of-table": (
        "A table has this name. Give the analyst another one.",
        "Una tabla tiene este nombre. Dé otro al analista.",
    ),
    "error-group-unknown": ("Choose a group of the list, or none.", "Elija un grupo de la lista, o ninguno."),
    "error-already-ended": (
        "This day is over. Choose a later one, or none.",
        "Este día ya pasó. Elija uno posterior, o ninguno.",
    ),
    "error-door-for-nobody": (
        "Choose the analyst for whom it is.",
        "Elija para qué analista es.",
    ),
    "error-role-unknown": ("Choose a role of the list.", "Elija un rol de la lista."),
}
