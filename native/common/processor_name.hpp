// What the processor of this machine is called.
#pragma once

#include <istream>
#include <string>

namespace hydraconf {

/// The processor's name for people; "unknown" where the system does not tell.
std::string processor_name();

/// The name in the text of Linux's /proc/cpuinfo: the `model name`, or on Arm, which has numbers in its place, the names of
/// its kinds of cores in the order in which they stand there, with their revision: "Neoverse-V2 r0p0". Empty where the
/// text has neither. src/profiler/machine/processor-name.ts does the same; a test keeps the two in step.
std::string processor_name_in(std::istream& cpuinfo);

}  // namespace hydraconf
