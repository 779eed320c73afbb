#pragma once
#include <functional>
#include <string_view>

#include "data/dataset/data_files.h"

namespace trefoil::data {

/// Gives `use` each record of a data set as it lies there, without what a job says of it: the same record
/// in two data sets is the same bytes. Of a table of text each line that is not blank but the first of a
/// file, which may be a header; of a query each record: without blanks and double quotes, any of , ; | .
/// and tabs as one comma, so that another way to write the same table gives the same. Of IDX and NPY the
/// bytes of each row of `x`, of NPZ those of the array x, of CIFAR each image with its label, of a folder
/// of images each file. Labels in a file of their own, and names of folders, are left out. Memory: one
/// file's content. Throws DataError where a file cannot be read.
void ForEachRawRecord(const DataFiles& files, const std::function<void(std::string_view record)>& use);

}  // namespace trefoil::data
