#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace trefoil::data {

/// Images in a folder whose sub-folders are named by class, or, where classes are nothing to look at, in
/// the folder itself, too. What has a name that begins with a dot is passed over; of the rest nothing is
/// told by its name.
struct ImageFile {
  std::string folder;  ///< the sub-folder's name; empty: none
  std::filesystem::path path;
};

/// All files of such a folder, which are not looked into. Without `classes` they are in the order of their
/// paths, byte by byte, as `LC_ALL=C sort` has them. With `classes` each sub-folder is named by one of these,
/// no file lies beside them, a class without a sub-folder has no images, and the sub-folders are in turn:
/// those of one in the order of their names byte by byte, those of different ones spread evenly, so that any
/// stretch of the list, and any third record of one, has each in about its proportion, and all small ones
/// together in about theirs. Of equal sub-folders the first file of each comes first, in the
/// order of the folders' names, then the second of each, and so on; where their number is a multiple of
/// three, each of three rounds begins with the next folder. Throws DataError naming what is there else:
/// another sub-folder, a folder in one, a symbolic link, no file; or that the folder cannot be read.
[[nodiscard]] std::vector<ImageFile> ListImages(const std::filesystem::path& folder,
                                                const std::vector<std::string>* classes = nullptr);

/// SHA-256 in hexadecimal of the lines "SHA-256-OF-THE-PATH SHA-256-OF-THE-FILE" of these files, the path
/// being SUB-FOLDER/NAME. Throws DataError as ListImages() and FileSha256(), and where a file begins as no
/// PNG or JPEG does: whoever names a folder in place of a table is told so.
[[nodiscard]] std::string ImagesSha256(const std::filesystem::path& folder);

/// Copies the file into the sub-folder of its name under `target`, which is made if need be. Throws
/// DataError naming the file, and what the system says.
void CopyImage(const ImageFile& image, const std::filesystem::path& target);

/// Makes `target` an empty folder, which images of `source` are to be copied to. Pre: it is another folder.
/// Throws DataError naming it, and what the system says.
void EmptyImageFolder(const std::filesystem::path& source, const std::filesystem::path& target);

}  // namespace trefoil::data
