"""What the native part can be built with, a subject a file. See native/detect.py."""
