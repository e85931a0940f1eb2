#pragma once
#include "study/finding.hpp"

#include <string>
#include <string_view>
#include <vector>

// What the two articles behind this project get wrong, each as a small program that computes the number that shows it.
// An exhibit is one file, study/exhibit_ID.cpp, and is in the list by existing.
namespace gradus::study {

/// A claim, the numbers that test it, and what is right.
struct Exhibit {
  std::string id;                         ///< `E1`
  std::vector<std::string> aliases = {};  ///< further ids
  std::string title;                      ///< one line: what is right
  std::string claim;                      ///< what the article says
  std::string right;                      ///< what is right instead
  std::string why;                        ///< two to five sentences
  std::vector<std::string> commands;      ///< command lines that show it
  std::vector<Finding> (*run)();          ///< computes the numbers; call `findings`, which gives it a clean state
};

/// Registers an exhibit: a static of this type in its file.
struct RegisteredExhibit {
  explicit RegisteredExhibit(Exhibit exhibit);
};

/// All of them, in the order of their ids: E1, E1b, E2 ... E10, F1.
std::vector<const Exhibit*> exhibits();

/// The exhibit with that id or alias, in capitals or not. Error that lists the ids when there is none.
const Exhibit& exhibit(std::string_view id);

/// Computes the numbers. The same bits every time, on any number of threads, whatever was drawn before: it runs with a
/// random generator and a mode of its own, and leaves those of the thread as they were.
std::vector<Finding> findings(const Exhibit& exhibit);

/// The page of an exhibit: claim, numbers, right, why, commands, in lines of at most `columns` columns.
std::string to_text(const Exhibit& exhibit, const std::vector<Finding>& findings, int columns = 100);

/// A command line on several lines of at most `columns` columns, broken where a shell allows it, without changing it:
/// between words with a backslash, inside quotes after a semicolon.
std::string folded_command(std::string_view command, int columns);

}  // namespace gradus::study
