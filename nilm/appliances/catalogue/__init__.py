"""The same appliance, week after week: ids that stay, and what is new, gone, changed or in doubt.

`records` holds what is known, `files` its JSON, `habits` when an appliance runs, `resemblance` how well two
looks of an appliance go together, `matching` the joint decision over a week, `changes` what the page says.
"""

from nilm.appliances.catalogue.changes import changes, differs, in_words
from nilm.appliances.catalogue.files import read_catalogue, write_catalogue
from nilm.appliances.catalogue.habits import Habits, habits_of
from nilm.appliances.catalogue.matching import Identity, identify
from nilm.appliances.catalogue.records import Catalogue, Doubt, Look, Sighting, Summary, WeekRecord

__all__ = [
    "Catalogue",
    "Doubt",
    "Habits",
    "Identity",
    "Look",
    "Sighting",
    "Summary",
    "WeekRecord",
    "changes",
    "differs",
    "habits_of",
    "identify",
    "in_words",
    "read_catalogue",
    "write_catalogue",
]
