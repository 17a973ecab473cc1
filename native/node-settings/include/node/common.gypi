# node-gyp wants the settings that Node was built with, for add-ons. Nothing here is one: how the native part is
# compiled stands in native/settings.gypi, whatever Node runs the build.
{}
