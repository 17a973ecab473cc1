#include "import_slots.hpp"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "../memory.hpp"

namespace region_recorder::gpu {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kAddressSlot = R_X86_64_GLOB_DAT;
#else
constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kAddressSlot = R_AARCH64_GLOB_DAT;
#endif

std::atomic_flag is_busy = ATOMIC_FLAG_INIT;
std::atomic<std::size_t> refused{0};
std::atomic<unsigned long long> looked_at_additions{0};

// A library that was looked at, by where its dynamic section stands. It may have been unloaded, and its place be another's
// or its own again: then it was not there in the round before, has another name, or its slot is as the linker left it.
struct Known {
  std::uintptr_t dynamic;
  std::uint64_t name;
  std::uint32_t round;
  void** slot;  // one that was redirected, if any
  void* value;
};
constexpr std::size_t kMostKnown = 4096;
Known known[kMostKnown];
std::uint32_t round_number = 0;

std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211u;
  return hash;
}

// The place of a library that has to be looked at. Null: it was, or there is no room for one more.
Known* new_place(std::uintptr_t dynamic, const char* path) {
  const std::uint64_t name = hash_of(path);
  for (std::size_t i = 0; i < kMostKnown; ++i) {
    Known& place = known[(dynamic / 16 + i) % kMostKnown];
    if (place.dynamic != dynamic && place.dynamic != 0) continue;
    const bool was_there =
        place.dynamic == dynamic && place.round + 1 == round_number && place.name == name &&
        (place.slot == nullptr || __atomic_load_n(place.slot, __ATOMIC_ACQUIRE) == place.value);
    place.round = round_number;
    if (was_there) return nullptr;
    place = {dynamic, name, round_number, nullptr, nullptr};
    return &place;
  }
  return nullptr;
}

// A slot whose function the linker looks for at the first call. What it is bound to then must be found out outside of
// dl_iterate_phdr, which holds the linker's lock.
struct Unbound {
  const char* library;
  std::uintptr_t base;
  void** slot;
  std::size_t name;
  Known* place;
};
constexpr std::size_t kMostUnbound = 64;

class Library {
 public:
  explicit Library(const dl_phdr_info& info) : base_(info.dlpi_addr), path_(info.dlpi_name) {
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info.dlpi_phdr[i];
      const std::uintptr_t begin = base_ + header.p_vaddr;
      if (header.p_type == PT_LOAD) {
        if (lowest_ == 0 || begin < lowest_) lowest_ = begin;
        if (begin + header.p_memsz > highest_) highest_ = begin + header.p_memsz;
      } else if (header.p_type == PT_DYNAMIC) {
        dynamic_ = begin;
      } else if (header.p_type == PT_GNU_RELRO) {
        const std::uintptr_t page = page_bytes();
        protected_begin_ = begin / page * page;
        protected_end_ = (begin + header.p_memsz) / page * page;
      }
    }
  }

  std::uintptr_t dynamic() const { return dynamic_; }
  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= lowest_ && at < highest_;
  }
  const char* path() const { return path_ == nullptr ? "" : path_; }
  std::uintptr_t base() const { return base_; }

  // Calls visit(slot, name) for each slot of an imported function of one of the names.
  template <typename Visit>
  void each_slot(const Imports& imports, Visit visit) const {
    const ElfW(Sym)* symbols = nullptr;
    const char* texts = nullptr;
    const ElfW(Rela)* tables[2] = {};
    std::size_t bytes[2] = {};
    std::size_t relative = 0;
    bool has_addends = true;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(dynamic_);
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols = at<ElfW(Sym)>(entry->d_un.d_ptr); break;
        case DT_STRTAB: texts = at<char>(entry->d_un.d_ptr); break;
        case DT_JMPREL: tables[0] = at<ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
        case DT_PLTREL: has_addends = entry->d_un.d_val == DT_RELA; break;
        case DT_RELA: tables[1] = at<ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
        case DT_RELACOUNT: relative = entry->d_un.d_val; break;
        default: break;
      }
    }
    if (symbols == nullptr || texts == nullptr || !has_addends) return;
    for (std::size_t table = 0; table < 2; ++table) {
      if (tables[table] == nullptr) continue;
      const std::size_t count = bytes[table] / sizeof(ElfW(Rela));
      for (std::size_t i = table == 1 ? relative : 0; i < count; ++i) {
        const ElfW(Rela)& relocation = tables[table][i];
        const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
        if (type != kCallSlot && type != kAddressSlot) continue;
        const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocation.r_info)];
        if (symbol.st_shndx != SHN_UNDEF) continue;
        const char* const wanted = texts + symbol.st_name;
        for (std::size_t name = 0; name < imports.count; ++name) {
          if (std::strcmp(wanted, imports.names[name]) != 0) continue;
          visit(reinterpret_cast<void**>(base_ + relocation.r_offset), name);
        }
      }
    }
  }

  // False: the system does not allow it.
  bool write(void** slot, void* value) const {
    const std::uintptr_t page = page_bytes();
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(slot) / page * page;
    const bool is_protected = place >= protected_begin_ && place < protected_end_;
    void* const memory = reinterpret_cast<void*>(place);
    if (is_protected && mprotect(memory, page, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_protected) mprotect(memory, page, PROT_READ);
    return true;
  }

 private:
  // The linker of glibc puts addresses into the dynamic section, that of musl leaves distances from the base.
  template <typename T>
  const T* at(std::uintptr_t value) const {
    return reinterpret_cast<const T*>(value < base_ ? base_ + value : value);
  }

  std::uintptr_t base_;
  const char* path_;
  std::uintptr_t dynamic_ = 0;
  std::uintptr_t lowest_ = 0;
  std::uintptr_t highest_ = 0;
  std::uintptr_t protected_begin_ = 0;
  std::uintptr_t protected_end_ = 0;
};

struct Round {
  const Imports* imports;
  Unbound unbound[kMostUnbound];
  std::size_t unbound_count;
  unsigned long long additions;
  // Of the slots outside of dl_iterate_phdr: which one is looked at, and what for.
  const Unbound* wanted;
  void* target;
};

void redirect(const Imports& imports, const Library& library, Known& place, void** slot,
              std::size_t name, void* target) {
  void* const replacement = imports.replacement(name, target);
  if (replacement == nullptr) return;
  if (!library.write(slot, replacement)) {
    refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  place.slot = slot;
  place.value = replacement;
}

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto& round = *static_cast<Round*>(data);
  round.additions = info->dlpi_adds;
  const Library library(*info);
  Known* const place =
      library.dynamic() == 0 ? nullptr : new_place(library.dynamic(), library.path());
  if (place == nullptr) return 0;
  if (library.holds(reinterpret_cast<const void*>(&look_at))) return 0;
  library.each_slot(*round.imports, [&](void** slot, std::size_t name) {
    void* const target = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!library.holds(target)) {
      if (target != nullptr) redirect(*round.imports, library, *place, slot, name, target);
      return;
    }
    if (round.unbound_count < kMostUnbound) {
      round.unbound[round.unbound_count++] = {library.path(), library.base(), slot, name,
                                             place};
    } else {
      refused.fetch_add(1, std::memory_order_relaxed);
    }
  });
  return 0;
}

int bind(dl_phdr_info* info, std::size_t, void* data) {
  const auto& round = *static_cast<const Round*>(data);
  const Library library(*info);
  if (library.base() != round.wanted->base || !library.holds(round.wanted->slot)) return 0;
  // Unless somebody has called it meanwhile, and the linker has bound it; then to the same function.
  redirect(*round.imports, library, *round.wanted->place, round.wanted->slot, round.wanted->name,
           round.target);
  return 1;
}

int ask_additions(dl_phdr_info* info, std::size_t, void* additions) {
  *static_cast<unsigned long long*>(additions) = info->dlpi_adds;
  return 1;
}

}  // namespace

void redirect_new_imports(const Imports& imports) noexcept {
  unsigned long long additions = 0;
  dl_iterate_phdr(ask_additions, &additions);
  if (additions == looked_at_additions.load(std::memory_order_relaxed)) return;
  if (is_busy.test_and_set(std::memory_order_acquire)) return;
  ++round_number;
  Round round{};
  round.imports = &imports;
  dl_iterate_phdr(look_at, &round);
  looked_at_additions.store(round.additions, std::memory_order_relaxed);
  for (std::size_t i = 0; i < round.unbound_count; ++i) {
    const Unbound& one = round.unbound[i];
    // Held, so that it stays loaded; where its functions come from, it knows best itself.
    void* const library =
        dlopen(*one.library == '\0' ? nullptr : one.library, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    round.wanted = &one;
    round.target = dlsym(library, imports.names[one.name]);
    if (round.target != nullptr) dl_iterate_phdr(bind, &round);
    dlclose(library);
  }
  is_busy.clear(std::memory_order_release);
}

std::size_t refused_slots() noexcept { return refused.load(std::memory_order_relaxed); }

}  // namespace region_recorder::gpu

#else

namespace region_recorder::gpu {

void redirect_new_imports(const Imports&) noexcept {}
std::size_t refused_slots() noexcept { return 0; }

}  // namespace region_recorder::gpu

#endif
