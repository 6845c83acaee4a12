/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/mount-plan.h"
#include "libstart/oci/spec-input.h"

/* The mounts of a container: those that a user asks for, and those that come with it. Transfer full. */
MountPlan *spec_plan_mounts(const SpecInput *input, GError **error);
