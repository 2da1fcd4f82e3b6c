// What Python sees, a function for each room of the core. They check and convert arguments and release the GIL.
#pragma once
#include <nanobind/nanobind.h>

void bind_table(nanobind::module_& m);
void bind_wide_columns(nanobind::module_& m);
void bind_scaling(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_kmeans(nanobind::module_& m);
void bind_streaming(nanobind::module_& m);
void bind_coassociation(nanobind::module_& m);
void bind_match_operator(nanobind::module_& m);
void bind_group_votes(nanobind::module_& m);
void bind_label_tables(nanobind::module_& m);
void bind_impute(nanobind::module_& m);
