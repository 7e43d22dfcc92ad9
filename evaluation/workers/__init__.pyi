from zermelo.evaluation.workers.choices import Isolate as Isolate
from zermelo.evaluation.workers.choices import RunnerChoice as RunnerChoice
from zermelo.evaluation.workers.settings import AgentLimits as AgentLimits
