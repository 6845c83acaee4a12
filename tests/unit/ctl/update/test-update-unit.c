/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/ctl/update/update-unit.h"
#include "libstart/health/health-record.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

/* In the place of systemctl: when it is asked the second time, the record can be read. */
static const char systemctl[] = "#!/bin/sh\n"
                                "cd \"${0%/*}\" || exit\n"
                                "[ ! -e asked ] || { rmdir .health.json && mv record .health.json; }\n"
                                "touch asked\n"
                                "echo ActiveState=active\n"
                                "echo NRestarts=0\n";

static void put_file(const char *directory, const char *name, const char *text) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        ck_assert(g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
}

/* That its health cannot be told for a moment is no sign that it has no checks, and works as long as it runs. */
START_TEST(test_health_that_cannot_be_told_is_awaited) {
        g_autofree char *directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL), *text = NULL,
                        *path = g_strjoin(":", directory, g_getenv("PATH"), NULL),
                        *torn = g_build_filename(directory, HEALTH_RECORD_FILE, NULL);
        LaunchArgs args = { .state_dir = directory };
        ContainerUnit container = { .unit = (char *) "web.service", .args = &args };
        g_autoptr(GPtrArray) containers = g_ptr_array_new();
        g_autoptr(HealthRecord) record = health_record_new();
        g_autoptr(GError) error = NULL;

        record->state.status = UNHEALTHY;
        text = health_record_print(record);
        put_file(directory, "record", text);
        put_file(directory, "systemctl", systemctl);
        ck_assert(mkdir(torn, 0700) == 0 && g_setenv("PATH", path, /* overwrite= */ true));
        g_ptr_array_add(containers, &container);
        ck_assert(!update_await(containers, /* seconds= */ 0, &error));
        ck_assert_msg(strstr(error->message, "web.service is not healthy"), "%s", error->message);
        own_tree_remove(g_steal_pointer(&directory));
}
END_TEST

TEST_MAIN("ctl/update/update-unit", tcase_add_test(tcase, test_health_that_cannot_be_told_is_awaited))
