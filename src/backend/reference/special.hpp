// Functions that the C++ library does not have.
#pragma once

namespace uni::reference {

float erf_inv(float x);
double erf_inv(double x);
float lgamma(float x);
double lgamma(double x);
float digamma(float x);
double digamma(double x);

}  // namespace uni::reference
