// Vectors whose first number begins a line of the cache: sixteen lanes that lie across two lines take twice as long to
// read.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace cf {

template <class T>
struct CacheAligned {
  using value_type = T;

  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}  // NOLINT: allocators convert

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* data, size_t) { ::operator delete(data, kLine); }

  friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
  friend bool operator!=(const CacheAligned&, const CacheAligned&) { return false; }

 private:
  static constexpr std::align_val_t kLine{64};
};

template <class T>
using LaneVector = std::vector<T, CacheAligned<T>>;

}  // namespace cf
