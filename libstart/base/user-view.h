/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* What a user's services see of the machine: a user namespace, in which they are root, and a mount namespace, in
 * which the places of root's services are those of the user (userns/view.h). keyturn-view.service of the user's
 * manager makes both, once, and the user's relay holds them (relay/view-keeper.h); whoever is not root enters them
 * before anything else. */

/* For root nothing, without a system call. Waits for a relay that has just ended: systemd starts it again at once. */
bool user_view_enter(GError **error);

/* The same for a program that enters containers, and may be executed in the view already: there it is executed anew,
 * from a mount of the namespace that it is in, which own_program_protect() needs. argv: the words that it is to have
 * then. */
bool user_view_enter_anew(char *const argv[], GError **error);

/* A pidfd (close-on-exec) and the number of the process that holds the view. -1 with errno: ENOENT where none has
 * said so, ESRCH where that one has ended. */
int user_view_open_holder(pid_t *ret_pid);

/* Enters its view, without waiting. False with errno: the above, or setns(2)'s. */
bool user_view_try(void);

/* For those who hold it or want to: nobody else looks for the holder, or becomes it, before the descriptor that is
 * returned (close-on-exec) is closed. -1 on errors. */
int user_view_lock(GError **error);

/* This process holds the view that it is in: from now on it is the one that others enter. `lock`: as above. Does not
 * fail for a full file system where there has been a holder before. */
bool user_view_announce(int lock, GError **error);

/* This process has entered one by itself; or, as root, has become a user in a user namespace of hers: for what is
 * read and mounted there, as it would be in a view. */
void user_view_assume(void);

/* Has this process entered one? */
bool user_view_is_entered(void);

/* Has it been entered, and is the user one without further ids? The kernel lets nobody change groups there, so that a
 * payload keeps the user's. */
bool user_view_keeps_groups(void);

/* The user's ids outside, where user_view_is_here(). A process that cannot know them ends: with others, it would be
 * somebody else's ids that a container gets. */
uid_t user_view_find_uid(void);
gid_t user_view_find_gid(void);

/* Is it in one, entered by itself or by what has executed it? */
bool user_view_is_here(void);
