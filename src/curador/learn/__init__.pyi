"""The public names of learning, each with the file it lives in; read by type checkers and by the lazy loader."""

from .models.additive import AdditiveClassifier as AdditiveClassifier
from .models.bayes import GaussianNB as GaussianNB
from .models.clusters import KMeans as KMeans
from .models.components import PCA as PCA
from .models.linear import LinearSVC as LinearSVC
from .models.linear import LogisticRegression as LogisticRegression
from .models.regression import LinearRegression as LinearRegression
from .models.regression import Ridge as Ridge
from .preprocess import BoundsBinner as BoundsBinner
from .preprocess import BoundsScaler as BoundsScaler
from .preprocess import KeyEncoder as KeyEncoder
from .preprocess import check_pipeline as check_pipeline
from .saved import load as load
from .saved import save as save
from .score import ChargedAccuracy as ChargedAccuracy
from .score import ModelScore as ModelScore
from .search import PrivateSearch as PrivateSearch
from .spent import ModelPrivacy as ModelPrivacy
from .trials import Trials as Trials
from .trials import batch_curve as batch_curve
from .trials import epsilon_curve as epsilon_curve
from .trials import learning_curve as learning_curve
from .trials import score_curve as score_curve
