/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libstart/image/notes.h"
#include "tests/unit/test-main.h"

#define DIGEST "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
#define ID "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"

/* As version 1.0 has written them, at first without newlines behind: they are read for ever. */
static const struct {
        const char *text, *rejected, *previous, *bad;
} notes_of_1_0[] = {
        { "", NULL, NULL, NULL },
        { "rejected=sha256:" DIGEST "\n", "sha256:" DIGEST, NULL, NULL },
        { "previous=" ID "\n", NULL, ID, NULL },
        { "rejected=sha256:" DIGEST "\nprevious=" ID "\n", "sha256:" DIGEST, ID, NULL },
        { "rejected=sha256:" DIGEST "\nprevious=" ID "\nbad=" ID "\n", "sha256:" DIGEST, ID, ID },
};

START_TEST(test_notes_of_1_0_are_read) {
        FILE *file = tmpfile();
        g_auto(ImageNotes) notes = { 0 };

        ck_assert(file && fputs(notes_of_1_0[_i].text, file) >= 0 && fflush(file) == 0);
        ck_assert(image_notes_read(fileno(file), &notes, NULL));
        ck_assert_pstr_eq(notes.rejected, notes_of_1_0[_i].rejected);
        ck_assert_pstr_eq(notes.previous, notes_of_1_0[_i].previous);
        ck_assert_pstr_eq(notes.bad, notes_of_1_0[_i].bad);
        fclose(file);
}
END_TEST

START_TEST(test_notes_are_written_as_they_are_read) {
        ImageNotes notes = { (char *) notes_of_1_0[_i].rejected, (char *) notes_of_1_0[_i].previous,
                             (char *) notes_of_1_0[_i].bad };
        FILE *file = tmpfile();
        char text[256] = "";
        g_autoptr(GError) error = NULL;

        /* Over longer ones, of which nothing stays; and always as long. */
        ck_assert(file && fprintf(file, "%0200d\nprevious=%s\n", 0, ID) > 0 && fflush(file) == 0);
        ck_assert(image_notes_write(fileno(file), &notes, &error));
        rewind(file);
        ck_assert_uint_eq(fread(text, 1, sizeof text - 1, file), 255);
        ck_assert_uint_eq(strspn(text + strlen(notes_of_1_0[_i].text), "\n"), 255 - strlen(notes_of_1_0[_i].text));
        text[strlen(notes_of_1_0[_i].text)] = '\0';
        ck_assert_str_eq(text, notes_of_1_0[_i].text);
        fclose(file);
}
END_TEST

/* Which begins with what did not work: else it is when the file was written. */
START_TEST(test_when_the_way_back_was_written_is_kept) {
        ImageNotes notes = { .previous = (char *) ID, .bad = (char *) ID, .since = 1700000000123456, .keep = true };
        g_auto(ImageNotes) found = { 0 }, without = { 0 };
        gint64 now = g_get_real_time();
        FILE *file = tmpfile();

        ck_assert(file && image_notes_write(fileno(file), &notes, NULL));
        ck_assert(image_notes_read(fileno(file), &found, NULL));
        ck_assert_int_eq(found.since, notes.since);
        ck_assert(found.keep && !found.known);
        notes.bad = NULL;
        notes.known = true;
        ck_assert(image_notes_write(fileno(file), &notes, NULL) && image_notes_read(fileno(file), &without, NULL));
        ck_assert(without.known);
        ck_assert_int_ge(without.since, now - G_USEC_PER_SEC);
        ck_assert_int_le(without.since, g_get_real_time());
        fclose(file);
}
END_TEST

/* Nothing that is known, and what cannot be read, are two things. */
START_TEST(test_notes_that_cannot_be_read) {
        int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        g_auto(ImageNotes) notes = { 0 };
        g_autoptr(GError) error = NULL;

        ck_assert(directory >= 0 && !image_notes_read(directory, &notes, &error));
        ck_assert_str_eq(error->message, "Cannot read what is known of an image: Is a directory");
        close(directory);
}
END_TEST

TEST_MAIN("image/notes", {
        tcase_add_loop_test(tcase, test_notes_of_1_0_are_read, 0, G_N_ELEMENTS(notes_of_1_0));
        tcase_add_loop_test(tcase, test_notes_are_written_as_they_are_read, 0, G_N_ELEMENTS(notes_of_1_0));
        tcase_add_test(tcase, test_when_the_way_back_was_written_is_kept);
        tcase_add_test(tcase, test_notes_that_cannot_be_read);
})
