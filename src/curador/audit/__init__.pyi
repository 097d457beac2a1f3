"""The public names of audits, each with the file it lives in; read by type checkers and by the lazy loader."""

from .finding import Finding as Finding
from .models.canaries import audit_canaries as audit_canaries
from .models.tables import audit_table_canaries as audit_table_canaries
from .replay.fits import replay_fit as replay_fit
from .tester.distinguish import compare as compare
from .tester.distinguish import distinguish as distinguish
from .tester.named import named as named
from .tester.neighbours import InputPair as InputPair
from .tester.neighbours import pairs_of as pairs_of
from .tester.neighbours import table_pairs as table_pairs
from .tester.power import detectable as detectable
from .tester.search import audit_mechanism as audit_mechanism
from .tester.search import audit_rows as audit_rows
from .tester.search import worst as worst
