// A hash that is the same on every machine and in every version: it decides which examples are held
// out, and which random stream a training example gets. (std::hash promises neither.)
#pragma once

#include <cstdint>
#include <string_view>

namespace gradus::train {

/// Hash of a number under a seed: the finalizer of SplitMix64 (Steele, Lea, Flood 2014), a
/// bijection for each seed.
constexpr std::uint64_t hash(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + number + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Hash of a text under a seed: FNV-1a over its bytes, mixed with the seed.
constexpr std::uint64_t hash(std::uint64_t seed, std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash(seed, h);
}

}  // namespace gradus::train
