extern "C" __global__ void empty() {}

extern "C" __global__ void emptyDependent() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
