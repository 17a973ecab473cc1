# The native part: the workload, the recorder, and their benchmark. None of it is a Node add-on;
# node-gyp is here as a build tool that every npm installation can get. See native/build.mjs.
{
  'includes': ['native/settings.gypi'],
  'targets': [
    {
      'target_name': 'common',
      'type': 'static_library',
      'sources': ['<!@(python3 native/detect.py sources native/common)'],
    },
    {
      # Everything of shallow_resnet but its main().
      'target_name': 'shallow_resnet_core',
      'type': 'static_library',
      'sources': [
        '<!@(python3 native/detect.py sources native/shallow_resnet)',
        '<!@(python3 native/detect.py sources native/shallow_resnet/cpu)',
      ],
      'sources!': ['native/shallow_resnet/main.cc'],
    },
    {
      'target_name': 'shallow_resnet',
      'type': 'executable',
      'dependencies': ['shallow_resnet_core', 'common'],
      'sources': ['native/shallow_resnet/main.cc'],
    },
    {
      # Speed of the convolution beside the processor's own: run by bench/native-resnet.ts.
      'target_name': 'convolution_benchmark',
      'type': 'executable',
      'dependencies': ['shallow_resnet_core', 'common'],
      'sources': ['native/shallow_resnet/benchmark/convolution_benchmark.cc'],
    },
    {
      # Loaded into other programs through NVTX_INJECTION64_PATH.
      'target_name': 'region_recorder',
      'type': 'loadable_module',
      'sources': ['<!@(python3 native/detect.py sources native/region_recorder)'],
      # It lives in other people's processes: it throws nothing and needs only the C library, so
      # that it cannot meet another libstdc++ there.
      'ldflags': ['-Wl,--as-needed'],
      # Not in cflags_cc, where the settings of all targets take them out.
      'cflags': ['-fno-exceptions', '-fno-rtti'],
      # A condition, because node-gyp names modules *.node in one, which would win otherwise.
      'target_conditions': [
        ['1==1', {'product_extension': 'so'}],
      ],
    },
  ],
}
