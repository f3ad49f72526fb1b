// All of Unisono.
#pragma once
#include <unisono/array.hpp>
#include <unisono/creation.hpp>
#include <unisono/elementwise.hpp>
#include <unisono/error.hpp>
#include <unisono/indexing.hpp>
#include <unisono/jit.hpp>
#include <unisono/mesh.hpp>
#include <unisono/parallel.hpp>
#include <unisono/random.hpp>
#include <unisono/reduction.hpp>
#include <unisono/shaping.hpp>
#include <unisono/sorting.hpp>
#include <unisono/transform.hpp>
#include <unisono/tree.hpp>
