/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/image/tool-words.h"
#include "libstart/image/tool.h"
#include "tests/unit/base/expect-error.h"

static bool run(const char *program, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();

        g_ptr_array_add(words, (char *) program);
        return tool_run(words, "test", /* has_deadline= */ false, error);
}

START_TEST(test_ends) {
        g_autoptr(GError) error = NULL;

        ck_assert(run("true", &error));
        ck_assert(!run("false", &error));
        expect_error(error, KT_ERROR_FAILED, "false: ");
}
END_TEST

/* As where the caller ignores SIGCHLD: that nobody knows how a pull has ended does not make it one that succeeded. */
START_TEST(test_unknown_end) {
        g_autoptr(GError) error = NULL;

        (void) signal(SIGCHLD, SIG_IGN);
        ck_assert(!run("false", &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot wait for false: No child processes");
}
END_TEST

static int first_fd;

/* A directory takes the place of the pipe that the program's output comes by: that cannot be read, and the pipe stays
 * open. While GLib makes the process, there is more than one. */
static void break_pipe(int signal) {
        static bool is_done;
        int n = 0, pipe_fd = -1;
        struct stat st;

        for (int fd = first_fd; fd < first_fd + 20; fd++)
                if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) {
                        pipe_fd = fd;
                        n++;
                }
        if (n != 1 || is_done)
                return;
        is_done = dup(pipe_fd) >= 0 && dup2(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), pipe_fd) >= 0;
        (void) signal;
}

START_TEST(test_a_program_whose_output_cannot_be_read_is_ended) {
        g_autoptr(GPtrArray) words = tool_words("sh", "-c", "while :; do kill -USR1 $PPID; sleep 0.1; done", NULL);
        g_autoptr(GError) error = NULL;

        first_fd = dup(STDIN_FILENO);
        close(first_fd);
        ck_assert(signal(SIGUSR1, break_pipe) != SIG_ERR);
        ck_assert(!tool_run(words, "Testing", /* has_deadline= */ false, &error));
        ck_assert_str_eq(error->message, "sh: its output cannot be read: Is a directory");
}
END_TEST

TEST_MAIN("image/tool", {
        tcase_add_test(tcase, test_ends);
        tcase_add_test(tcase, test_unknown_end);
        tcase_add_test(tcase, test_a_program_whose_output_cannot_be_read_is_ended);
})
