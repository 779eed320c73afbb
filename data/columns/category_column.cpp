#include "data/columns/category_column.h"

#include <algorithm>
#include <map>

#include "data/formats/file.h"
#include "data/tables/table_reader.h"

namespace trefoil::data {
namespace {

/// The names of the file's columns; a header is read.
std::vector<std::string> NamesOf(const CategoryColumn& column, TableReader& reader) {
  if (!reader.named()) return column.columns;
  if (!reader.Next()) ThrowDataError(reader.path(), "row 1", "nothing", "a header with the columns' names");
  return reader.fields();
}

std::size_t PlaceOf(const CategoryColumn& column, const std::vector<std::string>& names,
                    const TableReader& reader) {
  const auto times = std::count(names.begin(), names.end(), column.column);
  if (times != 1) {
    ThrowDataError(reader.path(), reader.named() ? reader.Place() : "row 1",
                   std::to_string(times) + " columns " + Quote(column.column), "one of that name");
  }
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), column.column) - names.begin());
}

}  // namespace

void RequireCapacity(const DataFiles& files, std::int64_t records, std::int64_t capacity) {
  if (records > capacity)
    ThrowDataError(files.place(), "", std::to_string(records) + " records",
                   "at most the " + std::to_string(capacity) + " that the job declares");
}

std::vector<std::string> ForEachCategory(const DataFiles& files, const CategoryColumn& column,
                                         const std::function<void(Category)>& take, Sha256* on_disk) {
  TableReader reader(files, column.header, {}, '.', on_disk);
  auto names = NamesOf(column, reader);
  const auto place = PlaceOf(column, names, reader);
  std::map<std::string, std::size_t> numbers;
  for (std::size_t v = 0; v < column.values.size(); ++v) numbers.emplace(column.values[v], v);
  while (reader.Next()) {
    if (reader.fields().size() != names.size()) {
      ThrowDataError(reader.path(), reader.Place(), std::to_string(reader.fields().size()) + " fields",
                     std::to_string(names.size()));
    }
    const auto number = reader.IsNull(place) ? numbers.end() : numbers.find(reader.fields()[place]);
    take(number == numbers.end() ? std::nullopt : Category(number->second));
  }
  return names;
}

std::vector<Category> ReadCategories(const DataFiles& files, const CategoryColumn& column) {
  std::vector<Category> records;
  ForEachCategory(files, column, [&](Category category) { records.push_back(category); });
  return records;
}

}  // namespace trefoil::data
