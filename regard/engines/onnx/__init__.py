"""ONNX: models written as graphs, and translating with onnxruntime."""
