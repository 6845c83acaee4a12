/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/user-view.h"
#include "libstart/volume/podman-record.h"
#include "libstart/volume/tree-copy.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/fail-call.h"

/* That it cannot be told whether there is a Podman does not mean that there is none. */
START_TEST(test_whether_podman_is_there) {
        g_autoptr(GError) error = NULL;
        bool is_there;

        if (!fail_access(EIO))
                return;
        ck_assert(!podman_record_find("v", &is_there, &error));
        expect_error(error, KT_ERROR_FAILED, "whether it has the volume 'v'");
}
END_TEST

static bool let_no_process_start(void) {
#ifdef SYS_fork
        if (!fail_call(SYS_fork, FAIL_ALL, EAGAIN) || !fail_call(SYS_vfork, FAIL_ALL, EAGAIN))
                return false;
#endif
        return fail_call(SYS_clone, FAIL_ALL, EAGAIN) && fail_call(SYS_clone3, FAIL_ALL, EAGAIN);
}

/* A Podman that could not be asked has not answered. (Where there is none, nobody is asked.) */
START_TEST(test_no_answer_is_noted) {
        g_autofree char *top = g_dir_make_tmp("keyturn-record-XXXXXX", NULL),
                        *volumes = g_strconcat(top, "/volumes", NULL), *volume = g_strconcat(volumes, "/v", NULL),
                        *database = g_strconcat(top, "/db.sql", NULL),
                        *asked = g_strconcat(volume, "/.keyturn-asked", NULL);
        pid_t child;
        int status;

        ck_assert_int_eq(g_mkdir_with_parents(volume, 0700), 0);
        ck_assert(g_file_set_contents(database, "", 0, NULL));
        user_view_assume(); /* root's lock is in /run/keyturn */
        child = fork();
        if (child == 0)
                _exit(let_no_process_start() && !podman_record_drop(volumes, "v", NULL));
        ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ck_assert_int_lt(access(asked, F_OK), 0);
        ck_assert(tree_remove(AT_FDCWD, top, NULL));
}
END_TEST

TEST_MAIN("podman-record", {
        tcase_add_test(tcase, test_whether_podman_is_there);
        tcase_add_test(tcase, test_no_answer_is_noted);
})
