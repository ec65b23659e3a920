"""ONNX: export models as graphs, and translate with onnxruntime."""
