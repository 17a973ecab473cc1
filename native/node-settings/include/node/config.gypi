# See common.gypi.
{}
