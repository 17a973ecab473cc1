/**
 * Titles of ncu's own sections by their identifiers. Tables name metrics' sections by title and
 * rules' sections by identifier, which must meet. A section that is not listed keeps its identifier.
 */
const TITLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ComputeWorkloadAnalysis: "Compute Workload Analysis",
    InstructionStats: "Instruction Statistics",
    LaunchStats: "Launch Statistics",
    MemoryWorkloadAnalysis: "Memory Workload Analysis",
    MemoryWorkloadAnalysis_Chart: "Memory Workload Analysis Chart",
    MemoryWorkloadAnalysis_Tables: "Memory Workload Analysis Tables",
    NumaAffinity: "NUMA Affinity",
    Nvlink: "NVLink",
    Nvlink_Tables: "NVLink Tables",
    Nvlink_Topology: "NVLink Topology",
    PmSampling: "PM Sampling",
    PmSampling_WarpStates: "PM Sampling: Warp States",
    SchedulerStats: "Scheduler Statistics",
    SourceCounters: "Source Counters",
    SpeedOfLight: "GPU Speed Of Light Throughput",
    SpeedOfLight_HierarchicalDoubleRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Double Precision)",
    SpeedOfLight_HierarchicalHalfRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Half Precision)",
    SpeedOfLight_HierarchicalSingleRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Single Precision)",
    SpeedOfLight_HierarchicalTensorRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Tensor Core)",
    SpeedOfLight_RooflineChart: "GPU Speed Of Light Roofline Chart",
    WarpStateStats: "Warp State Statistics",
    WorkloadDistribution: "GPU and Memory Workload Distribution",
  }),
);

export const sectionTitle = (identifier: string): string => TITLES.get(identifier) ?? identifier;
