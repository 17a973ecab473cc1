// Names of Arm processors, which /proc/cpuinfo tells in numbers only. src/profiler/machine/arm-processors.ts holds the same
// names; a test keeps the two in step.
#pragma once

namespace hydraconf {

/// Bits 31 to 24 and 15 to 4 of the register MIDR_EL1, and the name that lscpu (util-linux) gives to them.
struct ArmProcessor {
  unsigned implementer;
  unsigned part;
  const char* name;
};

inline constexpr ArmProcessor kArmProcessors[] = {
    // Arm
    {0x41, 0xd03, "Cortex-A53"},
    {0x41, 0xd05, "Cortex-A55"},
    {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},
    {0x41, 0xd0b, "Cortex-A76"},
    {0x41, 0xd0c, "Neoverse-N1"},
    {0x41, 0xd40, "Neoverse-V1"},
    {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd49, "Neoverse-N2"},
    {0x41, 0xd4f, "Neoverse-V2"},
    {0x41, 0xd83, "Neoverse-V3AE"},
    {0x41, 0xd84, "Neoverse-V3"},
    {0x41, 0xd85, "Cortex-X925"},
    {0x41, 0xd87, "Cortex-A725"},
    {0x41, 0xd8e, "Neoverse-N3"},
    // Cavium and Marvell
    {0x43, 0x0af, "ThunderX2-99xx"},
    // Fujitsu
    {0x46, 0x001, "A64FX"},
    // HiSilicon
    {0x48, 0xd01, "TaiShan-v110"},
    // NVIDIA
    {0x4e, 0x000, "Denver"},
    {0x4e, 0x003, "Denver 2"},
    {0x4e, 0x004, "Carmel"},
    {0x4e, 0x010, "Olympus"},
    // Qualcomm
    {0x51, 0x001, "Oryon"},
    // Apple, where Linux runs on it
    {0x61, 0x022, "Icestorm-M1"},
    {0x61, 0x023, "Firestorm-M1"},
    {0x61, 0x032, "Blizzard-M2"},
    {0x61, 0x033, "Avalanche-M2"},
    // Microsoft
    {0x6d, 0xd49, "Azure-Cobalt-100"},
    // Ampere
    {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1a"},
};

}  // namespace hydraconf
